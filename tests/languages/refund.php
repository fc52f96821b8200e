<?php
// é🙂
namespace Shop\Till;

use Shop\Base;

function refund(Order $order, int $amount = 0): bool
{
    # another
    $check = function ($v) { return $v > 0; };
    return $check($amount);
}

abstract class Ledger extends Base implements Loader
{
    use Traced;
    private int $total = 0;

    public function __construct(private array $entries) {}

    abstract protected function close(): void;

    public static function open(string $path): self
    {
        return new self([]);
    }
}

interface Loader
{
    public function load(): void;
}

trait Traced
{
    function trace() { return 'a b'; }
}

enum State: string
{
    case Open = 'o';
    public function label(): string { return $this->value; }
}

final class Box {}
