/* All that is compiled once for each instruction set. kernel.c includes this after the header that says what V, M, N,
   LOAD and so on are. */

#include "small_gemm.h"
#include "rows.h"
#include "node_loss.h"
#include "lstm.h"
#include "chart.h"

static const Passes NAME(passes) = {
    NAME(nary_forward),      NAME(nary_backward), NAME(leaf_forward), NAME(leaf_backward), NAME(child_sum_forward),
    NAME(child_sum_backward), NAME(multiply),      NAME(node_loss),    NAME(lstm),          NAME(brackets),
};

#include "undef.h"
