import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { AppError } from '#kernel/errors/app-error.ts';
import { readPrivateFile, replacePrivateFile } from '#kernel/private-file.ts';
import type { WalletIdentity } from '../wallet-identity.ts';
import { type BranchEnds, covers, highestOf, indexEnd } from './branch-ends.ts';

/** The wallet of a mark file. */
export type MarkOwner = Pick<WalletIdentity, 'network' | 'masterFingerprint'>;

/** Maximum number of bytes to read. A mark file has about 300 bytes, so a longer file cannot be a mark file. */
const readBytesMax = 4096;

const about =
  'High-water mark of a Satscribe wallet: no index below it is handed out again. Never lower, delete or restore it (docs/wallet.md).';

const frame = {
  about: Type.String(),
  network: Type.String(),
  masterFingerprint: Type.String(),
  checksum: Type.String(),
};
const end = Type.Integer({ minimum: 0, maximum: indexEnd });
const schema = Type.Object({
  ...frame,
  version: Type.Literal(2),
  branches: Type.Object({ orders: end, own: end, fees: end }),
});
/** The schema of files that older versions wrote, which had no branch for fee charges. */
const schemaOfOne = Type.Object({ ...frame, version: Type.Literal(1), orders: end, own: end });

interface Head {
  readonly version: number;
  readonly network: string;
  readonly masterFingerprint: string;
}

/** A mark, and the wallet to which it belongs. */
type Mark = Head & { readonly ends: BranchEnds };

/** The first half of a SHA-256 hash, which shows whether a file is damaged or was edited. It is not a secret. */
const checksumOf = ({ version, network, masterFingerprint }: Head, ends: readonly number[]): string =>
  createHash('sha256')
    .update([version, network, masterFingerprint, ...ends].join(' '))
    .digest('hex')
    .slice(0, 32);

/** The text of a mark file. */
export function markText({ network, masterFingerprint }: MarkOwner, ends: BranchEnds): string {
  const head = { version: 2, network, masterFingerprint };
  const { orders, own, fees } = ends;
  const checksum = checksumOf(head, [orders, own, fees]);
  return `${JSON.stringify({ about, ...head, branches: { orders, own, fees }, checksum }, null, 2)}\n`;
}

/** Parses the text of a mark file. Returns null if the text has no mark, or if it was changed. Total. */
function parseMark(text: string): Mark | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (Value.Check(schema, value)) {
    const { orders, own, fees } = value.branches;
    return value.checksum === checksumOf(value, [orders, own, fees])
      ? { ...value, ends: value.branches }
      : null;
  }
  if (!Value.Check(schemaOfOne, value)) return null;
  const { orders, own } = value;
  // the version that wrote this file never showed addresses of fee charges
  return value.checksum === checksumOf(value, [orders, own])
    ? { ...value, ends: { orders, own, fees: 0 } }
    : null;
}

/**
 * Reads the mark of a wallet. Returns null if the file does not exist. Throws `wallet_mark_refused` if the file is
 * damaged, or if other users may write it. Throws `wallet_mark_mismatch` if the file has the mark of another wallet.
 */
export async function readMark(path: string, owner: MarkOwner): Promise<BranchEnds | null> {
  const file = await readPrivateFile(path, readBytesMax);
  if (file.kind === 'missing') return null;
  if (file.kind === 'refused')
    throw refused(path, `${file.fault}. If other users may have changed it, run satscribe wallet skip`);
  const mark = parseMark(file.bytes.toString('utf8'));
  if (mark === null)
    throw refused(
      path,
      'its content is damaged, or cannot be read by this version. Restore its newest version; if there is none, run satscribe wallet skip',
    );
  if (mark.network !== owner.network || mark.masterFingerprint !== owner.masterFingerprint)
    throw new AppError(
      'wallet_mark_mismatch',
      `The mark file ${path} belongs to the wallet ${mark.masterFingerprint} on ${mark.network}, but this wallet is ${owner.masterFingerprint} on ${owner.network}. Set WALLET_MARK_FILE to the mark file of this wallet. If that file no longer exists, set WALLET_MARK_FILE to a path without a file, and run satscribe wallet skip.`,
      { path },
    );
  return mark.ends;
}

/**
 * Raises the mark to these ends and returns the mark, which is never lowered. After this returns, the mark is on disk,
 * even if power is lost. Only one caller at a time may do this (`lockMark`). Throws the errors of `readMark`, and
 * `wallet_mark_unwritable`.
 */
export async function raiseMark(path: string, owner: MarkOwner, ends: BranchEnds): Promise<BranchEnds> {
  const before = await readMark(path, owner);
  if (before !== null && covers(before, ends)) return before;
  const raised = before === null ? ends : highestOf(before, ends);
  await writeMark(path, owner, raised);
  return raised;
}

/** Writes a mark, and replaces a file with the same name. Throws `wallet_mark_unwritable`. */
export async function writeMark(path: string, owner: MarkOwner, ends: BranchEnds): Promise<void> {
  try {
    await replacePrivateFile(path, markText(owner, ends));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new AppError(
      'wallet_mark_unwritable',
      `The mark file ${path} cannot be written (${code}), so no address is released. Give the user of the service the right to write to its folder, or name another file with WALLET_MARK_FILE.`,
      { path, code },
    );
  }
}

const refused = (path: string, fault: string): AppError =>
  new AppError('wallet_mark_refused', `The mark file ${path} is refused, because ${fault}.`, { path });
