#!/bin/sh
# é🙂
refund() {
    echo "a  # b" # said
    inner() { true; }
}

function twice {
    echo $(( $1 * 2 ))
}

function both() (
    cat <<TEXT
# not a comment
TEXT
)
