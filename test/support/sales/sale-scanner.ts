import type { MarketInput, MarketTransaction, MoveLabel } from './market-coins.ts';

/**
 * Classifies each move of a transaction, only from the definitions of docs/marketplace.md. It shares no code with the
 * index's rules. For each inscription it reads the transaction again, slowly and in the order of the text.
 */
export function scanMoves(tx: Pick<MarketTransaction, 'inputs' | 'outputs'>): MoveLabel[] {
  const items = itemsOf(tx);
  return items.map((item) => {
    const sold = paymentOf(tx, items, item);
    if (sold === null) return { ...nothing, class: unsoldClass(tx, items, item) };
    // items that are sold for one payout get equal parts of it, and the first item also gets the remainder
    const sharers = items.filter((other) => paymentOf(tx, items, other)?.shared === sold.shared);
    const part = (sats: number): number => {
      const whole = Math.floor(sats / sharers.length);
      return sharers[0] === item ? whole + (sats % sharers.length) : whole;
    };
    return {
      class: sold.class,
      price: part(sold.price),
      grossPayout: part(sold.payout),
      maker: sold.maker,
      taker: item.to === null ? null : scriptAt(tx, item.to),
      feeOutput: sold.fee,
      wash: sold.wash || (item.to !== null && scriptAt(tx, item.to) === sold.maker),
    };
  });
}

const nothing = { price: null, grossPayout: null, maker: null, taker: null, feeOutput: null, wash: null };

function paymentOf(tx: Scanned, items: readonly Item[], item: Item): Found | null {
  return boundPayment(tx, items, item) ?? signedPayment(tx, items, item) ?? paidElsewhere(tx, items, item);
}

type Scanned = Pick<MarketTransaction, 'inputs' | 'outputs'>;

interface Item {
  readonly input: number;
  /** The output that the item moves to; `null` if it moves into the fee. */
  readonly to: number | null;
  readonly holder: string;
}

interface Found {
  readonly class: string;
  readonly price: number;
  readonly payout: number;
  readonly maker: string;
  readonly fee: number | null;
  /** Whether the payment comes from coins of the seller. */
  readonly wash: boolean;
  /** Name of the payout. Items with the same name share one payout. */
  readonly shared: string;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const scriptAt = (tx: Scanned, vout: number): string => hex(tx.outputs[vout]!.script);

/** Finds where items move. By ordinal theory, sats leave in the order in which they arrive. */
function itemsOf(tx: Scanned): Item[] {
  let before = 0;
  return tx.inputs.flatMap(({ spent, items }, input) => {
    const start = before;
    before += spent.value;
    return items.map((offset) => {
      let left = start + offset;
      const vout = tx.outputs.findIndex(({ value }) => {
        if (left < value) return true;
        left -= value;
        return false;
      });
      return { input, to: vout < 0 ? null : vout, holder: hex(spent.script) };
    });
  });
}

/** Sighash types of an input's signatures: Schnorr for a Taproot output (BIP 341), else DER (BIP 66). */
function typesOf({ spent, witness, scriptSig }: MarketInput): number[] {
  if (/^5120.{64}$/u.test(hex(spent.script))) {
    const stack = witness.length > 1 && witness.at(-1)![0] === 0x50 ? witness.slice(0, -1) : witness;
    const signed = stack.length === 1 ? stack : stack.slice(0, -2);
    return signed.flatMap((one) => {
      if (one.length === 64) return [0];
      return one.length === 65 && [1, 2, 3, 0x81, 0x82, 0x83].includes(one[64]!) ? [one[64]!] : [];
    });
  }
  const pushes: Uint8Array[] = [];
  for (let at = 0; at < scriptSig.length && scriptSig[at]! < 0x4c; at += 1 + scriptSig[at]!)
    pushes.push(scriptSig.subarray(at + 1, at + 1 + scriptSig[at]!));
  return [...pushes, ...witness].flatMap((one) =>
    one.length >= 9 && one.length <= 73 && one[0] === 0x30 && one[1] === one.length - 3 ? [one.at(-1)!] : [],
  );
}

const isSingle = (type: number): boolean => (type & 31) === 3;
/** Whether a signature leaves outputs unsigned: NONE (2) or SINGLE (3). */
const isPartial = (type: number): boolean => (type & 31) === 2 || isSingle(type);
const isPair = (input: MarketInput): boolean => typesOf(input).some(isSingle);
/** Whether a signature is ALL with ANYONECANPAY. Undefined types count as ALL. */
const isListed = (input: MarketInput): boolean =>
  typesOf(input).some((type) => type >= 0x80 && !isPartial(type));

/** "a signature of the seller binds the payout" */
function boundPayment(tx: Scanned, items: readonly Item[], item: Item): Found | null {
  const { input, holder } = item;
  const output = tx.outputs[input];
  if (!isPair(tx.inputs[input]!) || output === undefined || !isPayout(tx, items, input)) return null;
  const paid = hex(output.script);
  const maker = makerOf(tx, item, paid);
  if (!isPaidByStrangers(tx, items, item, maker)) return null;
  if (isBarter(tx, items, [holder, paid])) return null;
  if (isDustForRunes(tx, items, input, [holder, paid])) return null;
  const pairs = tx.inputs.flatMap((one, at) => (isPair(one) ? [at] : []));
  const layout = layoutOf(tx, items, pairs, item);
  const price = layout === 'openordex' ? output.value : priceOf(tx, input);
  const payers = tx.inputs.filter((other) => !isPair(other)).map(({ spent }) => hex(spent.script));
  return {
    class: 'sale',
    price,
    payout: output.value,
    maker,
    fee: layout === 'dummies' ? feeOf(tx, items, pairs) : null,
    wash: payers.includes(holder) || payers.includes(paid),
    shared: `output ${input}`,
  };
}

/** "where several signatures spend it, the script that is paid" */
const makerOf = (tx: Scanned, { input, holder }: Item, paid: string): string =>
  typesOf(tx.inputs[input]!).length > 1 ? paid : holder;

/** "the payout without the item's sats, or the payout where it is not more than these" */
function priceOf(tx: Scanned, input: number): number {
  const { value } = tx.outputs[input]!;
  const rest = value - tx.inputs[input]!.spent.value;
  return rest > 0 ? rest : value;
}

/** "the output after the pairs of the layouts two-dummies and bulk" */
function feeOf(tx: Scanned, items: readonly Item[], pairs: readonly number[]): number | null {
  const at = pairs.at(-1)! + 1;
  const output = tx.outputs[at];
  const prices = pairs
    .filter((input) => tx.outputs[input] !== undefined)
    .reduce((total, input) => total + priceOf(tx, input), 0);
  if (output === undefined || output.value < 581 || output.value * 4 > prices) return null;
  const script = hex(output.script);
  const isKnown =
    tx.inputs.some(({ spent }) => hex(spent.script) === script) ||
    tx.outputs.some((other, vout) => vout !== at && hex(other.script) === script);
  const isHeld = (vout: number): boolean => items.some(({ to }) => to === vout);
  const hasChange = hasChangeAfter(tx, items, at);
  return isKnown || isHeld(at) || output.script[0] === 0x6a || !hasChange ? null : at;
}

/** "another output for the change after it, of more than 1,000 sats" */
function hasChangeAfter(tx: Scanned, items: readonly Item[], at: number): boolean {
  return tx.outputs.some(
    ({ value, script }, vout) =>
      vout > at && value > 1_000 && script[0] !== 0x6a && !items.some(({ to }) => to === vout),
  );
}

/** The layouts of purchases: "openordex", and "two-dummies" or "bulk" by their dummies. */
function layoutOf(
  tx: Scanned,
  items: readonly Item[],
  row: readonly number[],
  { input }: Item,
): 'openordex' | 'dummies' | null {
  const [first = 0] = row;
  const isTogether = row.every((at, nth) => at === first + nth);
  if (!isTogether || tx.inputs.slice(0, first).some(({ spent }) => spent.value > 1_000)) return null;
  const lands = items.find((item) => item.input === input)?.to;
  if (row.length === 1 && input === 1 && lands === 0) return 'openordex';
  return first === row.length + 1 && lands === input - row.length ? 'dummies' : null;
}

/** Not "a pair whose output carries an inscription, is OP_RETURN, holds nothing" */
function isPayout(tx: Scanned, items: readonly Item[], vout: number): boolean {
  const { script, value } = tx.outputs[vout]!;
  return !items.some(({ to }) => to === vout) && script[0] !== 0x6a && value > 0;
}

/** Not "or pays who gets the item", nor "a pair that no stranger's sats pay for" */
function isPaidByStrangers(
  tx: Scanned,
  items: readonly Item[],
  { input, holder }: Item,
  maker: string,
): boolean {
  const { script, value } = tx.outputs[input]!;
  const paid = hex(script);
  const takers = items
    .filter((other) => other.input === input)
    .flatMap(({ to }) => (to === null ? [] : [scriptAt(tx, to)]));
  const isWash = paid === maker && value > tx.inputs[input]!.spent.value;
  if (takers.includes(paid) && !isWash) return false;
  const payers = tx.inputs.filter((other) => !isPair(other)).map(({ spent }) => hex(spent.script));
  if (takers.includes(maker) || payers.some((payer) => payer !== holder && payer !== paid)) return true;
  // "coins of the maker, or of another address of the seller that is paid"
  return paid !== holder && payers.length > 0;
}

/** "all signed everything, the holder of the item gains sats, and who gets it pays" */
function signedPayment(tx: Scanned, items: readonly Item[], item: Item): Found | null {
  const { input, holder } = item;
  if (signedTaker(tx, items, item) === null || !isForSale(tx, items, item)) return null;
  if (isBarter(tx, items, [holder])) return null;
  const { payout, putIn } = satsOf(tx, items, holder);
  const price = payout - putIn;
  if (price <= 0 || (payout <= Math.max(546, putIn) && isForRunes(tx, items, holder))) return null;
  const of = isListed(tx.inputs[input]!) ? 'sale' : 'offer';
  const own = { maker: holder, fee: null, wash: false };
  return { class: of, price, payout, ...own, shared: `holder ${holder}` };
}

/** The owner other than the holder who gets the item, if all outputs are signed. */
function signedTaker(tx: Scanned, items: readonly Item[], item: Item): string | null {
  const types = typesOf(tx.inputs[item.input]!);
  if (types.length === 0 || types.some(isPartial)) return null;
  const taker = soleTaker(tx, items, item);
  return taker === item.holder ? null : taker;
}

/** "who gets it pays", or another sign of a payment */
function isForSale(tx: Scanned, items: readonly Item[], item: Item): boolean {
  const payers = tx.inputs.map(({ spent }) => hex(spent.script));
  return (
    payers.includes(soleTaker(tx, items, item) ?? '') ||
    isOrdOffer(tx, items, item) ||
    isPaidAtIndex(tx, items, item)
  );
}

/** Sats that a holder gets in outputs without inscriptions, and all sats that the holder puts in. */
function satsOf(tx: Scanned, items: readonly Item[], holder: string): { payout: number; putIn: number } {
  const sum = (coins: readonly { readonly script: Uint8Array; readonly value: number }[]): number =>
    coins.reduce((total, { script, value }) => total + (hex(script) === holder ? value : 0), 0);
  return {
    payout: sum(tx.outputs.filter((_, vout) => !items.some(({ to }) => to === vout))),
    putIn: sum(tx.inputs.map(({ spent }) => spent)),
  };
}

/**
 * "a payout at the item's own index that is signed with ALL and ANYONECANPAY; a payout there in the layout of a
 * purchase"
 */
function isPaidAtIndex(tx: Scanned, items: readonly Item[], item: Item): boolean {
  const { input, holder } = item;
  if (tx.outputs[input] === undefined || scriptAt(tx, input) !== holder || !isPayout(tx, items, input))
    return false;
  const row = [...new Set(items.map((each) => each.input))];
  return isListed(tx.inputs[input]!) || layoutOf(tx, items, row, item) !== null;
}

/** "546 sats or what was put in, at most, in a transaction with a runestone" */
function isDustForRunes(
  tx: Scanned,
  items: readonly Item[],
  vout: number,
  sides: readonly string[],
): boolean {
  const most = Math.max(546, tx.inputs[vout]!.spent.value);
  return tx.outputs[vout]!.value <= most && sides.some((who) => isForRunes(tx, items, who));
}

/** Owners of the coins that pay: coins without inscriptions that are not pairs. */
function coinsThatPay(tx: Scanned, items: readonly Item[]): string[] {
  return tx.inputs
    .filter((other, at) => !isPair(other) && !items.some((each) => each.input === at))
    .map(({ spent }) => hex(spent.script));
}

/** "Paid at another address … if its holder gains nothing, the output of the item's own index is the payout" */
function paidElsewhere(tx: Scanned, items: readonly Item[], item: Item): Found | null {
  const { input, holder } = item;
  const taker = signedTaker(tx, items, item);
  const output = tx.outputs[input];
  const isPaying = output !== undefined && isPayout(tx, items, input);
  if (taker === null || !isPaying || !isListed(tx.inputs[input]!)) return null;
  const { payout, putIn } = satsOf(tx, items, holder);
  if (payout > putIn) return null;
  const paid = hex(output.script);
  const payers = coinsThatPay(tx, items);
  const price = output.value - tx.inputs[input]!.spent.value;
  const isBuyers = [holder, taker, ...payers].includes(paid) || payers.every((payer) => payer === holder);
  if (isBuyers || price <= 0 || !hasChangeAfter(tx, items, input)) return null;
  const sides = [holder, paid];
  if (isBarter(tx, items, sides) || isDustForRunes(tx, items, input, sides)) return null;
  const maker = makerOf(tx, item, paid);
  const wash = payers.includes(holder);
  return { class: 'sale', price, payout: output.value, maker, fee: null, wash, shared: `output ${input}` };
}

/**
 * The only owner who gets everything that was in the item's output. `null` if several owners do, if it goes into the
 * fee, or if no one gets it (OP_RETURN).
 */
function soleTaker(tx: Scanned, items: readonly Item[], { input }: Item): string | null {
  const together = items.filter((other) => other.input === input);
  const takers = new Set(together.map(({ to }) => (to === null ? null : scriptAt(tx, to))));
  const [taker = null] = takers;
  return takers.size === 1 && taker?.startsWith('6a') === false ? taker : null;
}

/** "the item from input 0 to output 0, output 1 to the script that held it", and others pay */
function isOrdOffer(tx: Scanned, items: readonly Item[], { input, holder }: Item): boolean {
  const others = tx.inputs.slice(1);
  return (
    input === 0 &&
    items.every((each) => each.input === 0 && each.to === 0) &&
    tx.outputs[1] !== undefined &&
    scriptAt(tx, 1) === holder &&
    others.length > 0 &&
    others.every(({ spent }) => hex(spent.script) !== holder)
  );
}

/** "somebody else's inscription comes back" */
function isBarter(tx: Scanned, items: readonly Item[], side: readonly string[]): boolean {
  return items.some(
    ({ holder, to }) => to !== null && side.includes(scriptAt(tx, to)) && !side.includes(holder),
  );
}

/** "or runes with next to no sats" */
function isForRunes(tx: Scanned, items: readonly Item[], holder: string): boolean {
  return (
    tx.outputs.some(({ script }) => hex(script).startsWith('6a5d')) &&
    tx.inputs.some(({ spent }) => hex(spent.script) !== hex(tx.inputs[0]!.spent.script)) &&
    tx.outputs.some(
      ({ script, value }, vout) =>
        hex(script) === holder && value <= 546 && !items.some(({ to }) => to === vout),
    )
  );
}

function unsoldClass(tx: Scanned, items: readonly Item[], item: Item): string {
  const { to, holder } = item;
  if (to === null) return 'fee';
  const { value, script } = tx.outputs[to]!;
  if (script[0] === 0x6a) return 'burn';
  if (hex(script) === holder) return 'self-transfer';
  if (isBarter(tx, items, [holder]) || isForRunes(tx, items, holder) || isPairForRunes(tx, items, item))
    return 'other';
  return items.length === 1 && value <= 546 ? 'gift' : 'transfer';
}

/** Whether strangers pay for a pair, and its payout contains runes. */
function isPairForRunes(tx: Scanned, items: readonly Item[], item: Item): boolean {
  const { input } = item;
  const output = tx.outputs[input];
  if (output === undefined || !isPair(tx.inputs[input]!) || !isPayout(tx, items, input)) return false;
  const paid = hex(output.script);
  const maker = makerOf(tx, item, paid);
  return (
    isPaidByStrangers(tx, items, item, maker) &&
    output.value <= Math.max(546, tx.inputs[input]!.spent.value) &&
    isForRunes(tx, items, paid)
  );
}
