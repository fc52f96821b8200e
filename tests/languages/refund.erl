%% é🙂
-module(refund).
-export([refund/1]).

refund(0) -> false;
refund(Amount) ->
    Amount > 0.

check(_) -> "a  b". % said

-record(order, {id, name}).
-type amount() :: integer().
