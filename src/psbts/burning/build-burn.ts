import { ownContent, readBodyPart } from '#chain/inscriptions/content.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { type BuiltPsbt, buildPsbt } from '#psbts/bytes/build-psbt.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { freeCoins } from '#psbts/coins/free-coins.ts';
import { feeRateFor, nodeFeesOf } from '#psbts/coins/node-fees.ts';
import { payingCoins } from '#psbts/coins/paying-coins.ts';
import { feeMost, shownFeeRate } from '#psbts/planning/fee-rate.ts';
import type { PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import { type BurnType, burnScripts } from './burn-script.ts';
import { burnWarnings } from './burn-warnings.ts';
import { type BurnedOutput, burnedOutput } from './burned-output.ts';
import { askDataCarrier, whyNotCarried } from './data-carrier.ts';
import { contentBytesMax, warningsOf } from './judge-inscription.ts';
import { type Burn, bareBurn, burnFrame, planBurn } from './plan-burn.ts';
import { lostSpecials } from './special-sats.ts';

/** A requested burn. Amounts are in sats. */
export interface WantedBurn {
  readonly kind: 'burn';
  readonly signers: Signers;
  readonly utxo: Outpoint;
  readonly type: BurnType;
  readonly burnAmount: bigint;
  readonly changeAmount: bigint;
  /**
   * Fee rate in sats per 1,000 virtual bytes. Null means the node's estimate, and then the output alone must pay the
   * fee.
   */
  readonly feeRate: bigint | null;
}

/**
 * Burns an inscription on the first sat of an output, in the form that indexers of BRC-20 read. The fee consists of the
 * output's sats that remain after `burnAmount` and `changeAmount`. If these sats are not enough for a requested fee
 * rate, coins of the payment address pay the rest. Throws `coins_unproven`, and the codes of UtxoReader and NodeRpc.
 */
export async function buildBurn(
  parts: CoinParts,
  wanted: WantedBurn,
  asker: Asker,
): Promise<BuiltPsbt | PsbtRefusal> {
  const { signers, utxo, type, burnAmount, changeAmount } = wanted;
  const dust = dustOf(signers.payment.script);
  if (changeAmount < BigInt(dust))
    return refusedPsbt(
      `changeAmount is too small, because nodes do not relay an output of less than ${dust} sats to ${signers.payment.address}.`,
      'changeAmount',
    );
  const feeRate = feeRateFor(wanted.feeRate, await nodeFeesOf(parts.node).standing());
  if (typeof feeRate !== 'bigint') return feeRate;
  const output = await burnedOutput(parts, signers.ordinals, utxo, asker);
  if (output.kind === 'refused') return output;
  const misplaced = whyNotFirst(output);
  if (misplaced !== null) return misplaced;
  const { input, runes } = output;
  const burn: Burn = { utxo: input, runes, signers, script: burnScripts[type], burnAmount, changeAmount };
  const funded = await fund(parts, burn, { feeRate, mayAddCoins: wanted.feeRate !== null }, asker);
  if (funded.kind === 'refused') return funded;
  const refusal = await whyRefused(parts, funded.plan, output);
  if (refusal !== null) return refusal;
  const isSpecial = lostSpecials(funded.plan, 0, 0, output.special).isInscribed;
  const warnings = [
    ...(await kindWarnings(parts, output, type, asker)),
    ...feeWarnings(burn, funded.plan, feeRate),
    ...burnWarnings(funded.plan, isSpecial),
  ];
  const unproven = [...output.unproven, ...funded.unproven];
  return buildPsbt(parts.node, funded.plan, { feeRate, warnings, unproven });
}

/** Refuses unless the output has exactly one inscription, on the first sat. Returns null if it has. */
function whyNotFirst({ name, inscriptions: [first, ...others] }: BurnedOutput): PsbtRefusal | null {
  if (others.length > 0)
    return refusedPsbt(
      `utxo: the output ${name} holds ${others.length + 1} inscriptions. Send the other inscriptions to outputs of their own first.`,
      'utxo',
    );
  if (first === undefined || first.offset === 0n) return null;
  return refusedPsbt(
    `utxo: the inscription is on sat ${first.offset} of the output ${name}, but it must be on the first sat. Send the inscription to an output that begins with it, or burn it with /tokenpay/create-burn-inscription-psbt.`,
    'utxo',
  );
}

interface Funding {
  readonly feeRate: bigint;
  readonly mayAddCoins: boolean;
}

/**
 * Describes in words the sats that are left for the fee. The requested amounts may be larger than the output's value.
 */
const leftForFee = ({ utxo }: Burn, rest: bigint): string =>
  rest < 0n
    ? `burnAmount and changeAmount need ${-rest} sats more than the ${utxo.value} sats of the output, without the fee`
    : `burnAmount and changeAmount leave ${rest} of the ${utxo.value} sats of the output for the fee`;

async function fund(
  parts: CoinParts,
  burn: Burn,
  { feeRate, mayAddCoins }: Funding,
  asker: Asker,
): Promise<(Pick<BuiltPsbt, 'plan' | 'unproven'> & { readonly kind: 'funded' }) | PsbtRefusal> {
  const { rest, needed } = bareBurn(burn, feeRate);
  if (rest >= needed) return { kind: 'funded', plan: planBurn(burn, []), unproven: [] };
  if (!mayAddCoins)
    return refusedPsbt(
      `utxo: ${leftForFee(burn, rest)}, but the fee is ${needed} sats at the node's estimate of ${shownFeeRate(feeRate)} sat/vB. Lower changeAmount. Or send a feeRate; coins of paymentAddress then pay the missing sats.`,
      'utxo',
    );
  const { supply, unproven } = await freeCoins(parts, burn.signers.payment, asker, [burn.utxo]);
  const chosen = payingCoins(await supply.choose(burnFrame(burn, feeRate)));
  if (chosen.kind === 'refused') return chosen;
  const plan = planBurn(burn, chosen.coins, chosen.change);
  return { kind: 'funded', plan, unproven: [...unproven] };
}

async function whyRefused(
  { node }: CoinParts,
  plan: PsbtPlan,
  { special, name }: BurnedOutput,
): Promise<PsbtRefusal | null> {
  const most = feeMost(plan.weight);
  if (plan.fee > most)
    return refusedPsbt(
      `changeAmount leaves ${plan.fee} sats for the fee, but nodes accept at most ${most} sats. Raise changeAmount.`,
      'changeAmount',
    );
  const notCarried = whyNotCarried(plan.outputs, await askDataCarrier(node));
  if (notCarried !== null) return refusedPsbt(notCarried);
  const { paid, burned } = lostSpecials(plan, 0, 0, special);
  if (burned !== null)
    return refusedPsbt(
      `burnAmount: special sats (${burned.satributes.join(', ')}) are on sat ${burned.offset} of the output ${name} and would be burned. Burn at most ${Math.max(1, burned.offset)} sats.`,
      'burnAmount',
    );
  if (paid === null) return null;
  return refusedPsbt(
    `changeAmount: special sats (${paid.satributes.join(', ')}) are on sat ${paid.offset} of the output ${name} and would be paid as the fee. Raise changeAmount so that you keep these sats, and send a feeRate.`,
    'changeAmount',
  );
}

async function kindWarnings(
  { pool }: CoinParts,
  { inscriptions, utxo }: BurnedOutput,
  type: BurnType,
  { signal }: Asker,
): Promise<string[]> {
  const [first] = inscriptions;
  if (first === undefined) return [];
  const id = parseInscriptionId(first.id);
  if (id === null) return [];
  const content = await contentOf(pool, id, signal);
  return warningsOf(type, { content, isUnmoved: displayHash(utxo.txid) === displayHash(id.txid) });
}

/**
 * Reads the content of the inscription. Returns null if it has no content, or if the content is too large for BRC-20.
 */
const contentOf = (
  pool: CoinParts['pool'],
  id: InscriptionId,
  signal: AbortSignal,
): Promise<Uint8Array | null> =>
  withSnapshot(
    pool,
    async ({ client }) => {
      const body = (await ownContent(client, id))?.body ?? null;
      if (body === null || body.sizeBytes > contentBytesMax) return null;
      return readBodyPart(client, body, { from: 0, count: body.sizeBytes });
    },
    signal,
  );

/** Factor for warnings: a fee is worth a warning if it is more than this many times the requested fee. */
const highFee = 2n;

function feeWarnings(burn: Burn, plan: PsbtPlan, feeRate: bigint): string[] {
  const { needed } = bareBurn(burn, feeRate);
  if (plan.inputs.length > 1 || plan.fee <= highFee * needed) return [];
  const spare = burn.changeAmount + plan.fee - needed;
  return [
    `The fee is ${plan.fee} sats, which is all that the output has beyond burnAmount and changeAmount. With a changeAmount of ${spare} the fee is ${needed} sats, or ${shownFeeRate(feeRate)} sat/vB.`,
  ];
}
