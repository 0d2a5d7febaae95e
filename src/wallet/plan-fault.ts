import { blockWeightMax, maxMoney } from '#kernel/bitcoin/consensus.ts';
import { checkDestination, type RefusedDestination } from '#kernel/bitcoin/destination.ts';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import { dustOf, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import {
  bumpFeeMax,
  type OwnScript,
  type PlannedInput,
  type PlannedOutput,
  type TransactionPlan,
} from '#kernel/contracts/transaction-plan.ts';
import { displayHash } from '#kernel/primitives/hash.ts';

/**
 * Maximum fee rate in sats per virtual byte. By default, Bitcoin Core does not send a transaction above this rate
 * (DEFAULT_MAX_RAW_TX_FEE_RATE, 0.1 BTC/kvB).
 */
const feeRateMax = 10_000n;
/**
 * Maximum number of sats in a P2A or OP_RETURN output. It equals the largest postage. Anyone may spend a P2A output,
 * and no one can spend an OP_RETURN output.
 */
const unownedMax = 10_000n;
const opReturn = 0x6a;
const u32Max = 0xffff_ffff;

/** Facts about the wallet's scripts: the script for a key and a leaf, and faults of the leaf. */
export interface OwnScripts {
  scriptOf(own: OwnScript): Uint8Array;
  leafFault(own: OwnScript): string | null;
}

/**
 * Finds the first rule of the wallet that a plan breaks, in words. Returns null if the plan may be signed. Even if the
 * planner has a fault, an accepted plan loses no money: its inputs and its change are derived from the wallet's own
 * keys, all other outputs are named, and the fee has a bound.
 */
export function planFault(plan: TransactionPlan, scripts: OwnScripts): string | null {
  return (
    frameFault(plan) ??
    bumpFault(plan) ??
    payoutFault(plan) ??
    asideFault(plan) ??
    withdrawalFault(plan) ??
    consolidationFault(plan) ??
    inventoryFault(plan) ??
    feeChargeFault(plan) ??
    firstFault(plan.inputs, 'input', (input) => inputFault(input, scripts)) ??
    firstFault(plan.outputs, 'output', (output) => outputFault(output, plan, scripts)) ??
    destinationFault(plan) ??
    feeFault(plan)
  );
}

/** The fee of a plan without faults. */
export const feeOf = ({ inputs, outputs }: TransactionPlan): bigint => sumOf(inputs) - sumOf(outputs);

const sumOf = (parts: readonly { readonly value: bigint }[]): bigint =>
  parts.reduce((sum, { value }) => sum + value, 0n);

function firstFault<Part>(
  parts: readonly Part[],
  name: string,
  faultOf: (part: Part) => string | null,
): string | null {
  for (const [place, part] of parts.entries()) {
    const fault = faultOf(part);
    if (fault !== null) return `${name} ${place}: ${fault}`;
  }
  return null;
}

function frameFault({ version, lockTime, inputs, outputs }: TransactionPlan): string | null {
  if (version !== 2 && version !== 3) return `the version ${String(version)} is not 2 or 3`;
  if (!isU32(lockTime)) return `the lock time ${lockTime} is not a number of four bytes`;
  if (!inputs.some((input) => !isAnchor(input))) return 'there is no input of the wallet';
  if (outputs.length === 0) return 'there is no output';
  const outpoints = new Set(inputs.map(({ txid, vout }) => `${displayHash(txid)}:${vout}`));
  return outpoints.size === inputs.length ? null : 'two inputs spend one output';
}

/**
 * Checks a bump. It may spend only anchors and outputs of the service's own keys, never an output of a customer's
 * order, and must keep everything except its fee.
 */
function bumpFault({ inputs, outputs, feeMax }: TransactionPlan): string | null {
  if (!outputs.some(({ kind }) => kind === 'bump')) return null;
  if (outputs.length > 1) return 'it is a bump, but has another output';
  const foreign = inputs.findIndex((input) => !isAnchor(input) && (input.key.branch !== 1 || hasLeaf(input)));
  if (foreign !== -1) return `it is a bump, but input ${foreign} is not of the service's own keys`;
  return feeMax <= bumpFeeMax
    ? null
    : `it is a bump and pays ${feeMax} sats for other transactions, but at most ${bumpFeeMax} are allowed`;
}

/**
 * Checks a payout to partners or the operator. It may spend only outputs of the service's own keys, never an output of
 * a customer's order, and must keep the rest in one output.
 */
function payoutFault({ inputs, outputs }: TransactionPlan): string | null {
  if (!outputs.some(({ kind }) => kind === 'payout')) return null;
  const foreign = inputs.findIndex((input) => !isOfService(input));
  if (foreign !== -1) return `it is a payout, but input ${foreign} is not of the service's own keys`;
  const others = outputs.filter(({ kind }) => kind !== 'payout');
  return isChangeAlone(others)
    ? null
    : "it is a payout, but its change is not one output of the service's own keys";
}

/**
 * Checks a plan that sends away an output of a charge that was set aside. The first input must spend this output, and
 * the first output must get exactly its sats. The fee comes from the service's own keys, and the change returns to
 * these keys.
 */
function asideFault({ inputs, outputs }: TransactionPlan): string | null {
  if (!outputs.some(({ kind }) => kind === 'aside')) return null;
  const [first, ...coins] = inputs;
  const [sent, ...others] = outputs;
  if (first === undefined || !isOfCharge(first))
    return 'it sends an output that was set aside, but its first input is not from a charge';
  if (sent?.kind !== 'aside' || sent.value !== first.value)
    return 'it does not send all of the output that was set aside';
  const foreign = coins.findIndex((input) => !isOfService(input));
  if (foreign !== -1)
    return `it sends an output that was set aside, but input ${foreign + 1} is not of the service's own keys`;
  return isChangeAlone(others)
    ? null
    : "it sends an output that was set aside, but its change is not one output of the service's own keys";
}

/**
 * Checks a plan that pays withdrawals of accounts. It may spend outputs of charges and change of earlier withdrawals,
 * never a coin of a customer's order. It must keep the rest in at most two outputs of the service's own keys: one with
 * sats, and one with runes. A runestone gets no sats.
 */
function withdrawalFault({ inputs, outputs }: TransactionPlan): string | null {
  if (!outputs.some(({ kind }) => kind === 'withdrawal')) return null;
  const foreign = inputs.findIndex((input) => !isOfCharge(input) && !isOfService(input));
  if (foreign !== -1)
    return `it pays withdrawals, but input ${foreign} is neither from a charge nor of the service's own keys`;
  const others = outputs.filter((output) => output.kind !== 'withdrawal' && !isRunestone(output));
  const isKeptAlone = others.every(({ kind, own }) => kind === 'change' && own?.key.branch === 1);
  return isKeptAlone && others.length <= changesOfWithdrawals
    ? null
    : "it pays withdrawals, but its change is not in two outputs of the service's own keys";
}

/**
 * Checks a plan that joins coins of accounts. It pays no one and keeps everything as change. Like withdrawals, it may
 * spend outputs of charges and change of earlier batches. It must keep the sats in at most two outputs of the service's
 * own keys.
 */
function consolidationFault({ inputs, outputs }: TransactionPlan): string | null {
  if (!outputs.every(({ kind }) => kind === 'change')) return null;
  const foreign = inputs.findIndex((input) => !isOfCharge(input) && !isOfService(input));
  if (foreign !== -1)
    return `it joins coins, but input ${foreign} is neither from a charge nor of the service's own keys`;
  return outputs.every(({ own }) => own?.key.branch === 1) && outputs.length <= changesOfWithdrawals
    ? null
    : "it joins coins, but what it keeps is not in two outputs of the service's own keys";
}

/** Maximum number of change outputs of withdrawals: one for sats, and one for runes. */
const changesOfWithdrawals = 2;

/** Whether an input spends an output of the service's own keys. */
const isOfService = (input: PlannedInput): boolean =>
  !isAnchor(input) && input.key.branch === 1 && !hasLeaf(input);

/** Whether there is exactly one output, and it belongs to the service's own keys. */
const isChangeAlone = ([first, ...others]: readonly PlannedOutput[]): boolean =>
  first?.kind === 'change' && first.own?.key.branch === 1 && others.length === 0;

/** Whether an input spends an output of a token charge (branch 0) or of a fee charge, without a leaf. */
const isOfCharge = (input: PlannedInput): boolean =>
  !isAnchor(input) && (input.key.branch === 0 || isOfFees(input)) && !hasLeaf(input);

/**
 * Checks a plan that spends an output of the inventory. It must take one sat of the output with its postage, and return
 * all other sats to the inventory. Sats move in the order of inputs and outputs, as in ord. A plan that spends nothing
 * of the inventory may not pay branch 2.
 */
function inventoryFault({ inputs, outputs }: TransactionPlan): string | null {
  const [first, ...others] = inputs;
  if (first === undefined || !inputs.some(isStocked)) return unstockedFault(outputs);
  if (!isStocked(first) || others.some(isStocked) || first.path === 'leaf' || hasLeaf(first))
    return 'it spends the inventory, but not with its first input alone and by key';
  return restockFault(first, outputs);
}

/**
 * Checks that outputs of fee charges are spent by key, because P2WPKH has no leaf. No plan may pay a key of fee
 * charges, so that only customers' payments are at these keys.
 */
function feeChargeFault({ inputs, outputs }: TransactionPlan): string | null {
  if (inputs.some((input) => isOfFees(input) && (input.path === 'leaf' || hasLeaf(input))))
    return 'it spends a fee charge through a leaf, but fee charges have no leaf';
  return outputs.some(({ own }) => own !== undefined && isOfFees(own))
    ? 'it pays a key of fee charges'
    : null;
}

const isOfFees = ({ key }: OwnScript): boolean => key.branch === feesBranch;

const hasLeaf = ({ leafScript, leafHash }: OwnScript): boolean =>
  leafScript !== null || leafHash !== undefined;

const isStocked = ({ key }: OwnScript): boolean => key.branch === inventoryBranch;

function unstockedFault(outputs: readonly PlannedOutput[]): string | null {
  const isPaid = outputs.some(
    ({ kind, own }) => kind === 'inventory' || (own !== undefined && isStocked(own)),
  );
  return isPaid ? 'it pays to the inventory, but spends nothing of it' : null;
}

/** Finds a fault in the outputs that receive the sats of an inventory output. */
function restockFault({ value }: PlannedInput, outputs: readonly PlannedOutput[]): string | null {
  const strange = outputs.find((output) => !besideInventory.has(output.kind) && !isRunestone(output));
  if (strange !== undefined) return `it spends the inventory, but has an output of kind ${strange.kind}`;
  const first = outputs.slice(0, 1 + outputs.findLastIndex(({ kind }) => isOfInventory(kind)));
  const postage = first.filter(({ kind }) => kind === 'postage');
  if (postage.length !== 1 || sumOf(postage) > postageMax)
    return `it takes more of the inventory than one postage of at most ${postageMax} sats`;
  if (!first.every(({ kind }) => isOfInventory(kind)) || sumOf(first) !== value)
    return 'it does not return all of its other sats to the inventory';
  const isAstray = first.some(({ kind, own }) => kind === 'inventory' && own?.key.branch !== inventoryBranch);
  if (isAstray) return 'it gives sats of the inventory to other keys of the wallet';
  const isMixed = outputs.some(
    ({ kind, own }) => kind !== 'inventory' && own?.key.branch === inventoryBranch,
  );
  return isMixed ? 'it pays other sats to a key of the inventory' : null;
}

/** Whether an output is a runestone without sats. It moves the runes of a payment to the customer's inscription. */
const isRunestone = (output: PlannedOutput): boolean =>
  output.kind === 'burn' && output.value === 0n && isBurned(output);

const isOfInventory = (kind: PlannedOutput['kind']): boolean => kind === 'inventory' || kind === 'postage';

const inventoryBranch = 2;
const feesBranch = 3;
/** Maximum postage, which is the number of sats in the output of an inscription (section 8 of the public interface). */
const postageMax = 10_000n;
/** Kinds of outputs that are allowed in a plan that spends the inventory. */
const besideInventory: ReadonlySet<PlannedOutput['kind']> = new Set([
  'inventory',
  'postage',
  'service',
  'anchor',
]);

function inputFault(input: PlannedInput, scripts: OwnScripts): string | null {
  const { txid, vout, value, sequence, path, leafScript } = input;
  if (txid.length !== 32) return `its txid has ${txid.length} bytes`;
  if (!isU32(vout) || !isU32(sequence)) return 'its index or its sequence is not a number of four bytes';
  if (value <= 0n || value > BigInt(maxMoney)) return `${value} sats cannot be spent`;
  if (path === 'leaf' && leafScript === null) return 'it is spent through a leaf, but has no leaf';
  // an anchor has no key, so it needs no signature
  if (isAnchor(input)) return path === 'key' ? null : 'an anchor has no leaf';
  return ownFault(input, input.script, scripts);
}

/**
 * Derives the script again and compares it. If the scripts were different, money would be lost, or the signature would
 * be invalid.
 */
function ownFault(own: OwnScript, script: Uint8Array, scripts: OwnScripts): string | null {
  const { branch, index } = own.key;
  if (
    ![0, 1, inventoryBranch, feesBranch].includes(branch) ||
    !Number.isInteger(index) ||
    index < 0 ||
    index > 0x7fff_ffff
  )
    return 'it names no key of the wallet';
  if (own.leafHash !== undefined && (own.leafScript !== null || own.leafHash.length !== 32))
    return 'it has both a leaf and the hash of a leaf, or a hash that does not have 32 bytes';
  const fault = scripts.leafFault(own);
  if (fault !== null) return `its leaf cannot be spent, because ${fault}`;
  return Buffer.compare(scripts.scriptOf(own), script) === 0
    ? null
    : `its script does not belong to key ${branch}/${index} and its leaf`;
}

function outputFault(output: PlannedOutput, plan: TransactionPlan, scripts: OwnScripts): string | null {
  const { script, value, own } = output;
  if (value < 0n || value > BigInt(maxMoney)) return `${value} sats are not an amount`;
  // nodes relay OP_RETURN with any value, because no one can spend it; `destinationFault` checks outputs of customers
  const dust = isBurned(output) || isPaid(output.kind) ? 0 : dustOf(script);
  if (value < BigInt(dust)) return `${value} sats are dust, because its script needs ${dust}`;
  return kindFault(output, plan) ?? (own === undefined ? null : ownFault(own, script, scripts));
}

function kindFault(output: PlannedOutput, plan: TransactionPlan): string | null {
  const { kind, own } = output;
  if (isKept(kind)) return own === undefined ? `it stays with the wallet (${kind}), but names no key` : null;
  switch (kind) {
    case 'postage':
    case 'parent':
    case 'refund':
    case 'payout':
    case 'withdrawal':
    case 'aside':
      // `destinationFault` checks the scripts of these outputs
      return null;
    case 'anchor':
      return isAnchor(output) ? lossFault(output, plan) : 'the script of its anchor is not P2A';
    case 'burn':
      return burnFault(output, plan);
    default:
      return unknownKind(kind);
  }
}

const keptKinds = [
  'service',
  'change',
  'commit',
  'bump',
  'inventory',
] as const satisfies readonly PlannedOutput['kind'][];

/** Whether the wallet keeps an output of this kind. */
const isKept = (kind: PlannedOutput['kind']): kind is (typeof keptKinds)[number] =>
  keptKinds.some((kept) => kept === kind);

/** The fault of an unknown kind of output. A plan from the JSON of another version may have such a kind. */
const unknownKind = (kind: never): string => `its kind ${String(kind)} is unknown`;

const isAnchor = ({ script }: Pick<PlannedOutput, 'script'>): boolean => scriptType(script) === 'p2a';
const isBurned = ({ script }: PlannedOutput): boolean => script[0] === opReturn;

/**
 * Checks the scripts that pay customers. Money may go to such a script, and the plan neither spends it nor keeps money
 * on it. A parent that waits for its last reveal stays in the wallet, and has a key. Each script is checked once, with
 * the smallest amount that it gets, because most orders have only one script.
 */
function destinationFault({ inputs, outputs }: TransactionPlan): string | null {
  const spent = inputs.filter((input) => !isAnchor(input));
  const kept = outputs.filter(({ own }) => own !== undefined);
  const ours = new Set([...spent, ...kept].map(({ script }) => hexOf(script)));
  const least = new Map<string, bigint>();
  for (const [place, { kind, script, value, own }] of outputs.entries()) {
    const key = hexOf(script);
    const judged = least.get(key);
    if (!isPaid(kind) || (judged !== undefined && judged <= value)) continue;
    const stays = kind === 'parent' && own !== undefined;
    const checked = checkDestination({ script, amount: value }, stays ? 'allowed' : () => ours.has(key));
    if (checked.kind === 'refused') return `output ${place}: ${notPaid(kind, checked)}`;
    if (!stays) least.set(key, value);
  }
  return null;
}

const notPaid = (kind: PlannedOutput['kind'], { code, reason }: RefusedDestination): string =>
  code === 'own' || code === 'dust'
    ? `the script of a ${kind} ${reason}`
    : `no one owns the script of a ${kind}, because it ${reason}`;

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');

const isPaid = (kind: PlannedOutput['kind']): boolean => paidKinds.has(kind);

const paidKinds: ReadonlySet<PlannedOutput['kind']> = new Set([
  'postage',
  'parent',
  'refund',
  'payout',
  'withdrawal',
  'aside',
]);

function burnFault(output: PlannedOutput, plan: TransactionPlan): string | null {
  const isOfKind = isBurned(output) || isAnchor(output);
  return isOfKind ? lossFault(output, plan) : 'the script of its burn is not OP_RETURN or P2A';
}

/**
 * Checks the loss in a burned output. At most one postage may be lost, or all sats of the anchors if these are more.
 * The sats of anchors belonged to no one before.
 */
function lossFault({ value }: PlannedOutput, { inputs }: TransactionPlan): string | null {
  const brought = sumOf(inputs.filter(isAnchor));
  const most = brought > unownedMax ? brought : unownedMax;
  return value <= most ? null : `${value} sats would be lost, but at most ${most} may be lost`;
}

function feeFault(plan: TransactionPlan): string | null {
  const fee = feeOf(plan);
  const weight = plannedWeight(plan);
  if (fee < 0n) return `its outputs have ${-fee} sats more than its inputs`;
  if (fee > plan.feeMax) return `its fee of ${fee} sats is above its own maximum of ${plan.feeMax}`;
  if (weight > blockWeightMax) return `its weight of ${weight} is above the weight of a block`;
  return fee > feeRateMax * BigInt(virtualSize(weight))
    ? `its fee of ${fee} sats is above ${feeRateMax} sats per vbyte`
    : null;
}

const isU32 = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= u32Max;
