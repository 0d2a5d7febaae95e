import { readJson } from '#kernel/text/read-json.ts';
import type { BurnType } from './burn-script.ts';

/** The parts of a burned inscription that indexers of BRC-20 read. */
export interface BurnedInscription {
  /** Content of the inscription. Null if there is no content, or if it is too large to be read. */
  readonly content: Uint8Array | null;
  /** Whether the inscription is still in the output in which it was made. */
  readonly isUnmoved: boolean;
}

/** Maximum length of a content that is read, in bytes. A standard reveal has no more. */
export const contentBytesMax = 400_000;

/** Operations of each protocol that a burn of a type carries out. */
const operations: Readonly<Record<BurnType, Readonly<Record<string, readonly string[]>>>> = {
  BRC20: { 'brc-20': ['transfer'] },
  // a transfer that is sent to the module is a deposit (brc20-proposals, 000-programmable-module)
  BRC20PROG: { 'brc20-prog': ['deploy', 'd', 'call', 'c', 'transact', 't'], 'brc-20': ['transfer'] },
};

const otherKind: Readonly<Record<BurnType, string>> = {
  BRC20: 'The inscription is not a transfer of BRC-20, so it is burned, but no tokens are burned.',
  BRC20PROG:
    'The inscription is neither an operation of brc20-prog nor a transfer of BRC-20, so it is burned, and the module does nothing.',
};
const moved =
  'The inscription has already left the output in which it was made. Indexers of BRC-20 only count its first move, so this burn moves no tokens and starts no module.';

/** Warnings that a burn of a type has less effect than the customer may expect. Pure, total. */
export function warningsOf(type: BurnType, { content, isUnmoved }: BurnedInscription): string[] {
  if (!isOfKind(type, content)) return [otherKind[type]];
  return isUnmoved ? [] : [moved];
}

function isOfKind(type: BurnType, content: Uint8Array | null): boolean {
  const fields = content === null ? null : fieldsOf(content);
  if (fields === null) return false;
  const { p: protocol, op: operation } = fields;
  const known = typeof protocol === 'string' && Object.hasOwn(operations[type], protocol);
  return known && (operations[type][protocol] ?? []).includes(String(operation));
}

function fieldsOf(content: Uint8Array): Readonly<Record<string, unknown>> | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return null;
  }
  const read = readJson(text, { wholeNumbers: 'exact', depthMax: 16 });
  if (read.kind !== 'read' || typeof read.value !== 'object' || read.value === null) return null;
  return read.value as Readonly<Record<string, unknown>>;
}
