import assert from 'node:assert/strict';
import { claimOf } from './etching-parts.ts';
import type { Content, FileTerms, OrderTerms } from './order-terms.ts';
import { type EnvelopeFields, revealScript } from './reveal-script.ts';
import { type FileGroup, pointerOf, type SettledTerms, settleTerms } from './settled-terms.ts';

/**
 * The leaf of a reveal. It is the whole script tree of the commit output's address. The contents of all files must be
 * given, not only their lengths.
 *
 * @param key x-only public key that must sign the reveal
 */
export function revealLeaf(terms: OrderTerms, { first, count }: FileGroup, key: Uint8Array): Uint8Array {
  const settled = settleTerms(terms);
  const files = terms.files.slice(first, first + count);
  assert(files.length === count, `${count} files from ${first} on, of ${terms.files.length}`);
  return revealScript(
    key,
    files.map((file, place) => envelopeOf(settled, { first, count }, file, place)),
    count === 0 ? claimOf(terms) : null,
  );
}

function envelopeOf(terms: SettledTerms, group: FileGroup, file: FileTerms, place: number): EnvelopeFields {
  return {
    contentType: file.contentType,
    body: bytesOf(file.body),
    contentEncoding: file.contentEncoding,
    metaprotocol: file.metaprotocol,
    metadata: bytesOf(file.metadata),
    delegate: file.delegate,
    parents: terms.parents.map(({ id }) => id),
    pointer: pointerOf(terms, group, place),
    rune: place === 0 ? claimOf(terms) : null,
  };
}

function bytesOf(content: Content | null): Uint8Array | null {
  assert(typeof content !== 'number', 'a script needs the content itself');
  return content;
}
