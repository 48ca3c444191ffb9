"""What holds for every layer holds for those of the cited systems, found through the registry."""

import pytest

import paper.layers  # noqa: F401 # they register themselves
from layers import of_nodes, registered
from nn.test_claims import *  # noqa: F403

pytestmark = pytest.mark.parametrize("name", of_nodes(registered("paper")))
