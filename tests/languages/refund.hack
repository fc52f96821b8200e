// é🙂
namespace Shop\Till;

function refund(int $amount): bool {
  return $amount > 0;
}

class Ledger extends Base {
  private int $total = 0;
  public function __construct() {}
  public static async function open(): Awaitable<void> {}
}

interface Loader {
  public function load(): void;
}

trait Traced {
  public function trace(): string { return 'a b'; }
}

enum State: int {
  OPEN = 1;
}

type Amount = int;
