import { cborToJson } from '#indexer/parse/cbor/cbor-json.ts';
import { opPushData4, pushAt } from '#kernel/bitcoin/script-push.ts';

const opReturn = 0x6a;

/**
 * The metadata of a burn as JSON. It is the first push after the OP_RETURN, in CBOR (ord docs, "Burning"). Returns null
 * if the script burns nothing, or if it has no metadata that ord reads. Never throws.
 *
 * @param script the script of the output with the inscription, or the beginning of the script
 */
export function burnMetadataJson(script: Uint8Array | null): string | null {
  if (script === null || script[0] !== opReturn || (script[1] ?? Number.POSITIVE_INFINITY) > opPushData4)
    return null;
  const push = pushAt(script, 1, script.length);
  return push === null ? null : cborToJson(script.subarray(push.start, push.end));
}
