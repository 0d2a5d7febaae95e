import type { MarketInput, MarketTransaction, MoveLabel } from './random-market.ts';

/**
 * Says what each move of a transaction was, from the definitions of docs/marketplace.md alone. It shares nothing with
 * the index's rules: it reads the transaction anew for each inscription, slowly and in the order of the text.
 */
export function scanMoves(tx: Pick<MarketTransaction, 'inputs' | 'outputs'>): MoveLabel[] {
  const items = itemsOf(tx);
  return items.map((item) => {
    const sold = boundPayment(tx, items, item) ?? signedPayment(tx, items, item);
    if (sold === null) return { ...nothing, class: unsoldClass(tx, items, item) };
    // all that is sold for one payout has equal parts of it, and the first one the rest
    const sharers = items.filter(
      (other) => (boundPayment(tx, items, other) ?? signedPayment(tx, items, other))?.shared === sold.shared,
    );
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
    };
  });
}

const nothing = { price: null, grossPayout: null, maker: null, taker: null };

type Scanned = Pick<MarketTransaction, 'inputs' | 'outputs'>;

interface Item {
  readonly input: number;
  /** Null: into the fee. */
  readonly to: number | null;
  readonly holder: string;
}

interface Found {
  readonly class: string;
  readonly price: number;
  readonly payout: number;
  readonly maker: string;
  /** Items with the same have one payout. */
  readonly shared: string;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const scriptAt = (tx: Scanned, vout: number): string => hex(tx.outputs[vout]!.script);

/** Ordinal theory: sats leave in the order in which they came. */
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

/** Sighash types of the signatures of an input: Schnorr of a Taproot output (BIP 341), else DER (BIP 66). */
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
/** Leaves outputs unsigned: NONE (2) or SINGLE (3). */
const isPartial = (type: number): boolean => (type & 31) === 2 || isSingle(type);
const isPair = (input: MarketInput): boolean => typesOf(input).some(isSingle);

/** "a signature of the seller binds the payout" */
function boundPayment(tx: Scanned, items: readonly Item[], item: Item): Found | null {
  const { input, holder } = item;
  const output = tx.outputs[input];
  if (!isPair(tx.inputs[input]!) || output === undefined || !isPayout(tx, items, input)) return null;
  const paid = hex(output.script);
  const maker = typesOf(tx.inputs[input]!).length > 1 ? paid : holder;
  if (!isPaidByStrangers(tx, items, item, maker)) return null;
  if (isBarter(tx, items, [holder, paid])) return null;
  const { value } = tx.inputs[input]!.spent;
  if (output.value <= Math.max(546, value) && isForRunes(tx, items, holder)) return null;
  const rest = output.value - value;
  const price = isOpenordex(tx, items, item) || rest <= 0 ? output.value : rest;
  return { class: 'sale', price, payout: output.value, maker, shared: `output ${input}` };
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
  return takers.includes(maker) || payers.some((payer) => payer !== holder && payer !== paid);
}

/** "one dummy of 1,000 sats at most, the pair at 1, the item to output 0" */
function isOpenordex(tx: Scanned, items: readonly Item[], { input }: Item): boolean {
  const pairs = tx.inputs.filter(isPair);
  const first = items.find((item) => item.input === input);
  return pairs.length === 1 && input === 1 && tx.inputs[0]!.spent.value <= 1_000 && first?.to === 0;
}

/** "all signed everything, the holder of the item gains sats, and who gets it pays" */
function signedPayment(tx: Scanned, items: readonly Item[], item: Item): Found | null {
  const types = typesOf(tx.inputs[item.input]!);
  if (types.length === 0 || types.some(isPartial)) return null;
  const taker = soleTaker(tx, items, item);
  if (taker === null || taker === item.holder) return null;
  const payers = tx.inputs.map(({ spent }) => hex(spent.script));
  const isOrd = isOrdOffer(tx, items, item);
  if (!payers.includes(taker) && !isOrd) return null;
  if (isBarter(tx, items, [item.holder])) return null;
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const payout = sum(
    tx.outputs.flatMap(({ script, value }, vout) =>
      hex(script) === item.holder && !items.some(({ to }) => to === vout) ? [value] : [],
    ),
  );
  const putIn = sum(
    tx.inputs.flatMap(({ spent }) => (hex(spent.script) === item.holder ? [spent.value] : [])),
  );
  const price = payout - putIn;
  if (price <= 0 || (payout <= Math.max(546, putIn) && isForRunes(tx, items, item.holder))) return null;
  const of = types.some((type) => type >= 0x80) ? 'sale' : 'offer';
  return { class: of, price, payout, maker: item.holder, shared: `holder ${item.holder}` };
}

/** Who gets all that was in the item's output; null: several do, the fee, or nobody (OP_RETURN). */
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

function unsoldClass(tx: Scanned, items: readonly Item[], { to, holder }: Item): string {
  if (to === null) return 'fee';
  const { value, script } = tx.outputs[to]!;
  if (script[0] === 0x6a) return 'burn';
  if (hex(script) === holder) return 'self-transfer';
  if (isBarter(tx, items, [holder]) || isForRunes(tx, items, holder)) return 'other';
  return items.length === 1 && value <= 546 ? 'gift' : 'transfer';
}
