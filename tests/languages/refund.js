// é🙂
function refund(order, amount) {
  function check(value) {
    return value > 0;
  }
  return check(amount);
}

const later = async (order) => {
  await order.load();
};

export const twice = (x) => x * 2,
  other = function (y) { return y; };

class Ledger extends Base {
  #entries = [];
  static make() { return new Ledger(); }
  constructor() { super(); }
  get total() { return 0; }
  add = (entry) => { this.#entries.push(entry); };
  async *walk() { yield 1; }
}

const api = {
  get(id) { return id; },
  post: (id) => id,
  nested: { put: function () {} },
  "quoted-key": () => 1,
};

exports.refundAll = function () {};
Ledger.prototype.close = () => {};
module.exports = { helper() {} };
export default function () {}
function* numbers() { yield 1; }
const Shape = class { area() { return 1; } };
