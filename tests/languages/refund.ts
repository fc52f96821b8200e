// é🙂
export function refund(order: Order, amount: number): boolean {
  return amount > 0;
}

export interface Order {
  id: string;
  load(): Promise<void>;
}

type Amount = number | string;

enum State { Open, Closed }

namespace Shop.Till {
  export const open = (): void => {};
  export class Drawer {}
}

declare module "till" {
  function ring(): void;
}

abstract class Ledger<T> implements Order {
  id = "x";
  constructor(private readonly entries: T[]) {}
  abstract close(): void;
  add = (entry: T): void => { this.entries.push(entry); };
  get total(): number { return 0; }
  @logged()
  async load(): Promise<void> {}
}

function over(a: string): void;
function over(a: number): void;
function over(a: any): void {}

export const later = async <T,>(x: T): Promise<T> => x;
