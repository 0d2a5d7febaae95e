import assert from 'node:assert/strict';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { BlockHashHex, Txid } from '#kernel/primitives/hash.ts';
import { type RuneFlow, runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { formatRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { chooseCoins } from '#psbts/planning/choose-coins.ts';
import { type PsbtOutput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import type { TestPayment, Units } from './test-cases.ts';

/** An output of the test wallet. */
export interface TestCoin {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: bigint;
  readonly runes: readonly RuneAmount[];
  /** Hash of the output's block, or null if the output is in no block. */
  readonly blockHash: BlockHashHex | null;
}

/** A transaction of the wallet. `returned` has the outputs that belong to the wallet again, by index. */
export interface PlannedTest {
  readonly kind: 'planned';
  readonly plan: PsbtPlan;
  readonly spent: readonly TestCoin[];
  readonly returned: readonly Pick<TestCoin, 'vout' | 'value' | 'runes'>[];
}

/** The asset of which the wallet has too little: a rune (amount in base units), or sats (null). */
export interface TestShort {
  readonly kind: 'short';
  readonly rune: RuneId | null;
  readonly there: bigint;
  readonly needed: bigint;
}

/**
 * An output index that no transaction of the service has. An edict to this index makes a cenotaph, which burns
 * everything.
 */
const noOutput = 255;

/** Plans one transaction of a case. Asserts that each unit reaches its output according to the protocol rules. Pure. */
export function planTestPayment(
  wallet: Signer,
  coins: readonly TestCoin[],
  payment: TestPayment,
  feeRate: bigint,
): PlannedTest | TestShort {
  const bringing = runeCoins(coins, payment);
  if ('kind' in bringing) return bringing;
  const inputs = bringing.map(inputOf(wallet));
  const outputs = outputsOf(wallet, bringing, payment);
  const plain = coins.filter(({ runes }) => runes.length === 0);
  const frame = { inputs, outputs, payer: wallet, feeRate };
  const confirmed = plain.filter(({ blockHash }) => blockHash !== null);
  const first = chooseCoins(byValue(confirmed), frame, true);
  const chosen = first.kind === 'chosen' ? first : chooseCoins(byValue(plain), frame, true);
  if (chosen.kind !== 'chosen') {
    assert(chosen.kind !== 'more', 'all coins were passed in');
    return { kind: 'short', rune: null, there: chosen.there, needed: chosen.needed };
  }
  const change: PsbtOutput[] =
    chosen.change === 0n ? [] : [{ script: wallet.script, value: chosen.change, purpose: 'change' }];
  const plan = psbtPlan({
    inputs: [...inputs, ...chosen.coins.map(inputOf(wallet))],
    outputs: [...outputs, ...change],
  });
  const spent = [...bringing, ...chosen.coins];
  return { kind: 'planned', plan, spent, returned: returnedOf(wallet, plan, spent, payment) };
}

/** Converts a coin of the wallet to the form that plans use. */
export const inputOf =
  (signer: Signer) =>
  ({ txid, vout, value, blockHash }: TestCoin) => ({ txid, vout, value, blockHash, signer });

/** Sorts coins that hold only sats, the largest first. */
const byValue = (coins: readonly TestCoin[]): TestCoin[] =>
  coins.toSorted((a, b) => Number(b.value - a.value));

/** Selects coins that provide the units of a payment. Confirmed coins come first, then those with the most units. */
function runeCoins(coins: readonly TestCoin[], payment: TestPayment): readonly TestCoin[] | TestShort {
  if (payment.kind === 'mint') return [];
  if (payment.kind === 'cenotaph') return burnedCoin(coins, payment.burned);
  const chosen = new Set<TestCoin>();
  for (const { id, amount } of neededUnits(payment)) {
    let there = heldBy([...chosen], id);
    const others = coins
      .filter((coin) => !chosen.has(coin) && heldBy([coin], id) > 0n)
      .toSorted((a, b) => isPending(a) - isPending(b) || Number(heldBy([b], id) - heldBy([a], id)));
    for (const coin of others) {
      if (there >= amount) break;
      chosen.add(coin);
      there += heldBy([coin], id);
    }
    if (there < amount) return { kind: 'short', rune: id, there, needed: amount };
  }
  return [...chosen];
}

const isPending = ({ blockHash }: TestCoin): number => (blockHash === null ? 1 : 0);

/** Finds the single coin that holds exactly the units to burn, and nothing else. */
function burnedCoin(coins: readonly TestCoin[], { id, amount }: Units): readonly TestCoin[] | TestShort {
  const found = coins.find(({ runes }) => runes.length === 1 && heldBy([{ runes }], id) === amount);
  return found === undefined ? { kind: 'short', rune: id, there: 0n, needed: amount } : [found];
}

/** Sums up the units of all outputs, by rune. */
function neededUnits({ outputs }: TestPayment): readonly Units[] {
  const byRune = Map.groupBy(
    outputs.flatMap(({ units }) => units),
    ({ id }) => formatRuneId(id),
  );
  return [...byRune.values()].flatMap(([first, ...rest]) =>
    first === undefined
      ? []
      : [{ id: first.id, amount: rest.reduce((sum, each) => sum + each.amount, first.amount) }],
  );
}

export const heldBy = (coins: readonly Pick<TestCoin, 'runes'>[], id: RuneId): bigint =>
  coins
    .flatMap(({ runes }) => runes)
    .filter((rune) => formatRuneId(rune.id) === formatRuneId(id))
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);

/** Outputs before the change. Runes that are not sent return in the first output, together with their sats. */
function outputsOf(wallet: Signer, bringing: readonly TestCoin[], payment: TestPayment): PsbtOutput[] {
  const isReturning = payment.kind === 'edicts' && bringing.length > 0;
  const first: PsbtOutput[] = isReturning
    ? [
        {
          script: wallet.script,
          value: bringing.reduce((sum, { value }) => sum + value, 0n),
          purpose: 'ordinals',
        },
      ]
    : [];
  const paid = payment.outputs.map(
    ({ script, sats }): PsbtOutput => ({ script, value: sats, purpose: 'charge' }),
  );
  const stone = runestoneOf(payment, first.length, bringing.length > 0);
  const last: PsbtOutput[] =
    stone === null ? [] : [{ script: encipher(stone), value: 0n, purpose: 'runestone' }];
  return [...first, ...paid, ...last];
}

/** The runestone of a payment, or null if the payment moves no runes. */
function runestoneOf(payment: TestPayment, before: number, hasRunes: boolean): Runestone | null {
  if (payment.kind === 'mint') {
    const { block, tx } = payment.minted;
    return { ...routeRunestone({ edicts: [], pointer: 0 }), mint: { block, tx } };
  }
  if (payment.kind === 'cenotaph') {
    const { id, amount } = payment.burned;
    return routeRunestone({ edicts: [{ id, amount: asU128(amount), output: noOutput }], pointer: null });
  }
  if (!hasRunes) return null;
  const edicts = payment.outputs.flatMap(({ units }, place) =>
    units.map(({ id, amount }) => ({ id, amount: asU128(amount), output: before + place })),
  );
  return routeRunestone({ edicts, pointer: 0 });
}

function returnedOf(
  wallet: Signer,
  { outputs }: PsbtPlan,
  spent: readonly TestCoin[],
  payment: TestPayment,
): PlannedTest['returned'] {
  const flow = runeFlow(
    outputs,
    spent.flatMap(({ runes }) => runes),
  );
  assert(flow.burned.length > 0 === (payment.kind === 'cenotaph'), 'only a cenotaph burns');
  for (const { script: to, units } of payment.kind === 'edicts' ? payment.outputs : []) {
    const place = outputs.findIndex((output) => output.script === to && output.purpose === 'charge');
    for (const { id, amount } of units)
      assert(heldBy([{ runes: givenTo(flow, place) }], id) === amount, 'a payment brings the needed units');
  }
  return ownOutputs(wallet, outputs, flow);
}

/** The outputs of a transaction that belong to the wallet again, with the runes that they receive. Pure. */
export const ownOutputs = (
  { script }: Signer,
  outputs: readonly Pick<PsbtOutput, 'script' | 'value'>[],
  flow: RuneFlow,
): PlannedTest['returned'] =>
  outputs.flatMap(({ script: to, value }, vout) =>
    Buffer.compare(to, script) === 0 ? [{ vout, value, runes: givenTo(flow, vout) }] : [],
  );

const givenTo = ({ given }: RuneFlow, vout: number): RuneAmount[] =>
  given.filter(({ output }) => output === vout).map(({ id, amount }) => ({ id, amount }));
