"""One small file for each row of the paper's tables; `bough.config.load_recipe` reads them."""
