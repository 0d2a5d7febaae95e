import { termsJson } from '#http/ord/runes/rune-json.ts';
import type { RawOutput } from '#indexer/transaction/raw-transaction.ts';
import { runeLetters } from '#kernel/runes/rune.ts';
import { formatRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import type { Artifact, Etching } from '#kernel/runes/runestone/artifact.ts';
import { decipher } from '#kernel/runes/runestone/decipher.ts';
import { isRunestoneScript } from '#kernel/runes/runestone/runestone-script.ts';

/*
 * Runestones as JSON text. The text is written piece by piece, because one transaction can have 250,000 edicts.
 * Integers are up to 2^128. Numbers and bigints as text already are valid JSON.
 */

/** The `runestone` of ord's `/decode/<txid>`, in pieces. `null` if the transaction has no runestone. */
export function* runestoneJson(outputs: readonly RawOutput[]): Generator<string> {
  const script = outputs.find((output) => isRunestoneScript(output.script))?.script;
  if (script === undefined) yield 'null';
  else yield* artifactJson(decipher(script, 0, script.length, outputs.length));
}

function* artifactJson(artifact: Artifact): Generator<string> {
  const { mint } = artifact;
  if (artifact.kind === 'cenotaph') {
    const { etching, flaw } = artifact;
    yield `{"Cenotaph":{"etching":${etching === null ? null : `"${runeLetters(etching)}"`},"flaw":"${flaw}",`;
    yield `"mint":${idJson(mint)}}}`;
    return;
  }
  yield '{"Runestone":{"edicts":[';
  for (const [place, { id, amount, output }] of artifact.edicts.entries())
    yield `${place === 0 ? '' : ','}{"id":${idJson(id)},"amount":${amount},"output":${output}}`;
  yield `],"etching":${artifact.etching === null ? null : etchingJson(artifact.etching)},`;
  yield `"mint":${idJson(mint)},"pointer":${artifact.pointer}}}`;
}

const idJson = (id: RuneId | null): string => (id === null ? 'null' : `"${formatRuneId(id)}"`);

function etchingJson({ divisibility, premine, rune, spacers, symbol, terms, turbo }: Etching): string {
  const name = rune === null ? null : `"${runeLetters(rune)}"`;
  const character = symbol === null ? null : JSON.stringify(String.fromCodePoint(symbol));
  const limits = terms === null ? null : termsJson(terms);
  return (
    `{"divisibility":${divisibility},"premine":${premine},"rune":${name},"spacers":${spacers},` +
    `"symbol":${character},"terms":${limits},"turbo":${turbo}}`
  );
}
