import { open } from 'node:fs/promises';
import { payableAddress } from '#kernel/bitcoin/payable-address.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { seedFileOf } from '#src/app/ordering/wallet.ts';
import { withNodeOf } from '#src/app/sources/node.ts';
import { ownScriptOf, parseRecoveryKit, type RecoveryKit } from '#wallet/recovery-kit.ts';
import { openRecoverySigner, type SignedTransaction } from '#wallet/signer.ts';
import { outputsAt, takeBackPlan } from '#wallet/take-back.ts';
import { feeRateOf } from './amounts.ts';

/** A kit with the largest leaf of a block, in hex. */
const kitBytesMax = 8_100_000;

/** Takes back what lies at the address of a kit. */
export async function recover(context: CommandContext, kitFile: string | undefined): Promise<void> {
  const seedFile = seedFileOf(context);
  const feeRate = feeRateOf(context.flags);
  if (kitFile === undefined)
    throw new UsageError('which kit? satscribe wallet recover KIT_FILE --to ADDRESS --fee-rate RATE');
  const kit = await readKit(kitFile);
  const destination = destinationOf(context.flags, kit.network);
  const signer = await openRecoverySigner(seedFile, kit);
  await withNodeOf(context, kit.network, async (node, signal) => {
    const script = Uint8Array.from(Buffer.from(kit.script, 'hex'));
    const outputs = await outputsAt(node, script, signal);
    const { plan, left } = takeBackPlan({ own: ownScriptOf(kit), script, outputs, destination, feeRate });
    const signed = signer.signPlan(plan);
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

interface Recovered {
  readonly signed: SignedTransaction;
  readonly isSent: boolean;
  /** Outputs that stay where they are. */
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
  // only the transaction on stdout, so that scripts can use it directly
  const stays = left === 0 ? '' : `; outputs left there: ${left}`;
  process.stderr.write(
    `${isSent ? 'sent' : 'signed, not sent'}: ${txid} pays ${value} sats, with a fee of ${signed.fee}; outputs taken: ${inputs}${stays}\n`,
  );
  await print(`${isSent ? txid : hex}\n`);
}

const hexOf = ({ bytes }: SignedTransaction): string => Buffer.from(bytes).toString('hex');

/** Throws `recovery_refused` with the node's reason. */
async function checkAccepted(node: NodeRpc, signed: SignedTransaction): Promise<void> {
  const [verdict] = await node.call<{ allowed: boolean; 'reject-reason'?: string }[]>('testmempoolaccept', [
    [hexOf(signed)],
  ]);
  if (verdict?.allowed === true) return;
  const reason = verdict?.['reject-reason'] ?? 'no reason';
  throw new AppError('recovery_refused', `The node takes no transaction of the kit's payments: ${reason}.`);
}

async function readKit(path: string): Promise<RecoveryKit> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new AppError('recovery_refused', `The kit ${path} cannot be read (${error.code ?? 'unknown'}).`);
  });
  try {
    const { size } = await file.stat();
    const kit = size > kitBytesMax ? null : parseRecoveryKit(await file.readFile('utf8'));
    if (kit !== null) return kit;
    throw new AppError('recovery_refused', `The file ${path} is no recovery kit of this version.`);
  } finally {
    await file.close();
  }
}

function destinationOf(flags: CommandContext['flags'], network: NetworkName): Uint8Array {
  const { to } = flags;
  if (to === undefined) throw new UsageError('where to? Name an address with --to');
  const parsed = payableAddress(to, networks[network]);
  if (parsed.kind === 'script') return parsed.script;
  throw new UsageError(`--to ${to}: the address ${parsed.reason}; the kit is of ${network}`);
}
