import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { accountOrigin } from '#wallet/account-key.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import type { FoundOutput } from '#wallet/restoring/find-outputs.ts';
import type { SignedTransaction } from '#wallet/signer.ts';

/** Transactions that send the found outputs to one address, and the outputs that they do not spend. */
export interface Swept {
  readonly signed: readonly SignedTransaction[];
  readonly isSent: boolean;
  readonly left: readonly { readonly output: FoundOutput; readonly why: string }[];
}

/** The result of a search, in a form for people and programs. */
export interface Restored {
  readonly network: NetworkName;
  readonly searched: BranchEnds;
  readonly found: readonly FoundOutput[];
  readonly hasDatabase: boolean;
  /** The transactions that send the outputs. `null` if none were requested. */
  readonly swept: Swept | null;
}

const branchNames = ['order', 'service', 'inventory', 'fee'] as const;

const outpointOf = ({ txid, vout }: FoundOutput): string => `${displayHash(txid)}:${vout}`;
const hexOf = ({ bytes }: SignedTransaction): string => Buffer.from(bytes).toString('hex');
const sumOf = (found: readonly FoundOutput[]): bigint => found.reduce((sum, { value }) => sum + value, 0n);
const sorted = (found: readonly FoundOutput[]): FoundOutput[] =>
  found.toSorted((a, b) => a.own.key.branch - b.own.key.branch || a.own.key.index - b.own.key.index);

export function restoredJson({ network, searched, found, hasDatabase, swept }: Restored): object {
  return {
    network,
    searched,
    hasDatabase,
    total: Number(sumOf(found)),
    outputs: sorted(found).map((output) => ({
      output: outpointOf(output),
      sats: Number(output.value),
      height: output.height,
      branch: branchNames[output.own.key.branch],
      index: output.own.key.index,
      orderId: output.orderId,
    })),
    ...(swept === null
      ? {}
      : {
          isSent: swept.isSent,
          transactions: swept.signed.map((signed) => ({
            txid: displayHash(signed.txid),
            hex: hexOf(signed),
            fee: Number(signed.fee),
          })),
          left: swept.left.map(({ output, why }) => ({ output: outpointOf(output), why })),
        }),
  };
}

export function restoredText(restored: Restored): string {
  const { network, searched, found, hasDatabase, swept } = restored;
  const account = `m/${accountOrigin(network).replaceAll('h', "'")}`;
  const rows = sorted(found).map(({ own: { key }, value, height, orderId, ...output }) =>
    [
      branchNames[key.branch].padEnd(9),
      `${account}/${key.branch}/${key.index}`.padEnd(26),
      String(value).padStart(14),
      String(height).padStart(9),
      ` ${displayHash(output.txid)}:${output.vout}`,
      orderId === null ? '' : ` leaf of order ${orderId}`,
    ].join(' '),
  );
  const head =
    rows.length === 0 ? '' : `of        key                                  sats    height  output\n`;
  const without = hasDatabase
    ? ''
    : 'Searched without a database. Payments to addresses with a leaf can only be found with the kits of their orders (docs/wallet.md).\n';
  return `${head}${rows.map((row) => `${row.trimEnd()}\n`).join('')}${found.length} outputs, ${sumOf(found)} sats; searched up to index ${searched.orders} of orders, ${searched.own} of the service, ${searched.fees} of fee charges
${without}${swept === null ? '' : sweptText(swept)}`;
}

function sweptText({ signed, isSent, left }: Swept): string {
  const lines = signed.map((transaction) =>
    isSent
      ? `sent ${displayHash(transaction.txid)}, with a fee of ${transaction.fee}`
      : `signed, not sent (fee ${transaction.fee}): ${hexOf(transaction)}`,
  );
  const stays = left.map(({ output, why }) => `left ${outpointOf(output)}: ${why}`);
  return [...lines, ...stays].map((line) => `${line}\n`).join('');
}
