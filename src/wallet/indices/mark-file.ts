import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { AppError } from '#kernel/errors/app-error.ts';
import { readPrivateFile, replacePrivateFile } from '#kernel/private-file.ts';
import type { WalletIdentity } from '../wallet-identity.ts';
import { type BranchEnds, covers, highestOf, indexEnd } from './branch-ends.ts';

/** Whose mark a file is. */
export type MarkOwner = Pick<WalletIdentity, 'network' | 'masterFingerprint'>;

/** The file has some 300 bytes; more is another file. */
const readBytesMax = 4096;

const about =
  'High-water mark of a Satscribe wallet: no index below it is handed out again. Never lower, delete or restore it (docs/wallet.md).';

const schema = Type.Object({
  about: Type.String(),
  version: Type.Literal(1),
  network: Type.String(),
  masterFingerprint: Type.String(),
  orders: Type.Integer({ minimum: 0, maximum: indexEnd }),
  own: Type.Integer({ minimum: 0, maximum: indexEnd }),
  checksum: Type.String(),
});
type MarkFile = Static<typeof schema>;

/** The first half of a SHA-256: it finds a file that is torn or was edited. It is no secret. */
const checksumOf = ({
  version,
  network,
  masterFingerprint,
  orders,
  own,
}: Omit<MarkFile, 'about' | 'checksum'>) =>
  createHash('sha256')
    .update([version, network, masterFingerprint, orders, own].join(' '))
    .digest('hex')
    .slice(0, 32);

/** The text of a mark file. */
export function markText({ network, masterFingerprint }: MarkOwner, { orders, own }: BranchEnds): string {
  const content = { version: 1 as const, network, masterFingerprint, orders, own };
  return `${JSON.stringify({ about, ...content, checksum: checksumOf(content) }, null, 2)}\n`;
}

/** The mark of a text; null: there is no mark in it, or it was changed. Total. */
function parseMark(text: string): MarkFile | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return Value.Check(schema, value) && value.checksum === checksumOf(value) ? value : null;
}

/**
 * The mark of a wallet; null: there is no file. Throws `wallet_mark_refused` for one that others may write, or that is
 * damaged, and `wallet_mark_mismatch` for that of another wallet.
 */
export async function readMark(path: string, owner: MarkOwner): Promise<BranchEnds | null> {
  const file = await readPrivateFile(path, readBytesMax);
  if (file.kind === 'missing') return null;
  if (file.kind === 'refused')
    throw refused(path, `${file.fault}. Where others may have changed it, run satscribe wallet skip`);
  const mark = parseMark(file.bytes.toString('utf8'));
  if (mark === null)
    throw refused(
      path,
      'its content is damaged, or is no mark of this version. Bring back the newest one; where there is none, run satscribe wallet skip',
    );
  if (mark.network !== owner.network || mark.masterFingerprint !== owner.masterFingerprint)
    throw new AppError(
      'wallet_mark_mismatch',
      `The mark file ${path} is of the wallet ${mark.masterFingerprint} on ${mark.network}, not of ${owner.masterFingerprint} on ${owner.network}. Name that of this wallet with WALLET_MARK_FILE; where there is none any more, name a file that is not there, and run satscribe wallet skip.`,
      { path },
    );
  return { orders: mark.orders, own: mark.own };
}

/**
 * Raises the mark to these ends, never lowers it, and returns it. It is on disk, also after a loss of power, when this
 * returns. Callers take turns (`lockMark`). Throws like `readMark`, and `wallet_mark_unwritable`.
 */
export async function raiseMark(path: string, owner: MarkOwner, ends: BranchEnds): Promise<BranchEnds> {
  const before = await readMark(path, owner);
  if (before !== null && covers(before, ends)) return before;
  const raised = before === null ? ends : highestOf(before, ends);
  await writeMark(path, owner, raised);
  return raised;
}

/** Writes a mark in place of whatever has its name. Throws `wallet_mark_unwritable`. */
export async function writeMark(path: string, owner: MarkOwner, ends: BranchEnds): Promise<void> {
  try {
    await replacePrivateFile(path, markText(owner, ends));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new AppError(
      'wallet_mark_unwritable',
      `The mark file ${path} cannot be written (${code}), so no address is released. Let the user of the service write to its folder, or name another one with WALLET_MARK_FILE.`,
      { path, code },
    );
  }
}

const refused = (path: string, fault: string): AppError =>
  new AppError('wallet_mark_refused', `The mark file ${path} is refused: ${fault}.`, { path });
