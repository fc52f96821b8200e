# é🙂
package Shop::Till;
use strict;

sub refund {
    my ($order, $amount) = @_;
    return $amount > 0; # said
}

sub check { return "a  b" }

package Shop::Other;

sub ring { 1 }

1;

=pod

sub not_code { }

=cut
