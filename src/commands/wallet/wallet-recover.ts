import { open } from 'node:fs/promises';
import { unknownHoldings } from '#kernel/contracts/holdings.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { requireForeign } from '#src/app/ordering/foreign-destination.ts';
import { markFileOf, seedFileOf } from '#src/app/ordering/wallet.ts';
import { withNodeOf } from '#src/app/sources/node.ts';
import { type BranchEnds, endsAt, movedBy, releasedAtOnce } from '#wallet/indices/branch-ends.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { ownScriptOf, parseRecoveryKit, type RecoveryKit } from '#wallet/recovery-kit.ts';
import {
  identityOfSeedFile,
  openRecoverySigner,
  type SignedTransaction,
  type Signer,
} from '#wallet/signer.ts';
import { outputsAt, takeBackPlan } from '#wallet/take-back.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';
import { feeRateOf } from './amounts.ts';
import { readDestination } from './destination.ts';
import { knownMark } from './known-indices.ts';

/** Maximum size of a kit file, in bytes. A kit contains a leaf in hex, and the largest leaf is as large as a block. */
const kitBytesMax = 8_100_000;

/** Recovers the outputs at the address of a kit. */
export async function recover(context: CommandContext, kitFile: string | undefined): Promise<void> {
  const seedFile = seedFileOf(context);
  const feeRate = feeRateOf(context.flags);
  if (kitFile === undefined)
    throw new UsageError('missing kit; use satscribe wallet recover KIT_FILE --to ADDRESS --fee-rate RATE');
  const kit = await readKit(kitFile);
  const { to } = context.flags;
  if (to === undefined) throw new UsageError('missing address; name it with --to');
  const destination = readDestination(to, kit.network, 'kit');
  const signer = await openRecoverySigner(seedFile, kit);
  await withNodeOf(context, kit.network, async (node, signal) => {
    const script = Uint8Array.from(Buffer.from(kit.script, 'hex'));
    const wallet = new PublicWallet(await identityOfSeedFile(seedFile, kit.network));
    const until = await comparedEnds(markFileOf(context.config, seedFile), wallet.identity);
    const foreign = { node, wallet, signal, pool: null, leaves: [script] };
    await requireForeign(foreign, destination, { from: null, until });
    const outputs = await outputsAt(node, script, signal);
    const { plan, left } = takeBackPlan({
      own: ownScriptOf(kit),
      script,
      outputs,
      destination: destination.script,
      feeRate,
    });
    const signed = signUnknown(signer, plan);
    await checkAccepted(node, signed);
    const isSent = context.flags['broadcast'] !== undefined;
    if (isSent) await node.call('sendrawtransaction', [hexOf(signed)]);
    await tell(context, {
      signed,
      isSent,
      left,
      inputs: plan.inputs.length,
      value: plan.outputs[0]?.value ?? 0n,
    });
  });
}

/** Signs without an index, so the contents of the inputs are unknown. */
const signUnknown = (signer: Signer, plan: TransactionPlan): SignedTransaction =>
  signer.signPlan(
    plan,
    plan.inputs.map(() => unknownHoldings),
  );

interface Recovered {
  readonly signed: SignedTransaction;
  readonly isSent: boolean;
  /** Number of outputs that are not spent. */
  readonly left: number;
  readonly inputs: number;
  readonly value: bigint;
}

async function tell({ flags, print }: CommandContext, recovered: Recovered): Promise<void> {
  const { signed, isSent, left, inputs, value } = recovered;
  const txid = displayHash(signed.txid);
  const hex = hexOf(signed);
  if (flags['json'] !== undefined) {
    const amounts = { value: Number(value), fee: Number(signed.fee) };
    await print(`${JSON.stringify({ txid, hex, isSent, inputs, left, ...amounts })}\n`);
    return;
  }
  // print only the transaction to stdout, so that scripts can use the output directly
  const stays = left === 0 ? '' : `; outputs that were not taken: ${left}`;
  process.stderr.write(
    `${isSent ? 'sent' : 'signed, not sent'}: ${txid} pays ${value} sats, with a fee of ${signed.fee}; outputs taken: ${inputs}${stays}\n`,
  );
  await print(`${isSent ? txid : hex}\n`);
}

const hexOf = ({ bytes }: SignedTransaction): string => Buffer.from(bytes).toString('hex');

/** Checks that the node accepts the transaction. Throws `recovery_refused` with the node's reason. */
async function checkAccepted(node: NodeRpc, signed: SignedTransaction): Promise<void> {
  const [verdict] = await node.call<{ allowed: boolean; 'reject-reason'?: string }[]>('testmempoolaccept', [
    [hexOf(signed)],
  ]);
  if (verdict?.allowed === true) return;
  const reason = verdict?.['reject-reason'] ?? 'no reason';
  throw new AppError('recovery_refused', `The node accepts no transaction of the kit's payments: ${reason}.`);
}

async function readKit(path: string): Promise<RecoveryKit> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new AppError('recovery_refused', `The kit ${path} cannot be read (${error.code ?? 'unknown'}).`);
  });
  try {
    const { size } = await file.stat();
    const kit = size > kitBytesMax ? null : parseRecoveryKit(await file.readFile('utf8'));
    if (kit !== null) return kit;
    throw new AppError(
      'recovery_refused',
      `The file ${path} is not a recovery kit that this version can read.`,
    );
  } finally {
    await file.close();
  }
}

/**
 * The ends of the indices with which `--to` is compared. They include the indices that the mark contains, and the
 * indices that a process releases next.
 */
async function comparedEnds(markFile: string, identity: WalletIdentity): Promise<BranchEnds> {
  return movedBy((await knownMark(markFile, identity)) ?? endsAt(0), releasedAtOnce);
}
