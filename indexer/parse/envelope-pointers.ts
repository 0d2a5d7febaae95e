import { envelopeTags } from '#kernel/primitives/envelope-tag.ts';
import { pointerValue } from './envelope.ts';
import { pushedNumber, ScriptScan, scanScript } from './witness-script.ts';

/** The pointers of the envelopes of a script, in order. NaN: no valid pointer. Any script gives a result. */
export function envelopePointers(script: Uint8Array): number[] {
  const scan = new ScriptScan();
  const count = scanScript(scan, script, 0, script.length);
  return Array.from({ length: count }, (_, envelope) => pointerOf(script, scan, envelope));
}

/** The pointer of an envelope: the first value with the pointer's tag. */
function pointerOf(script: Uint8Array, scan: ScriptScan, envelope: number): number {
  const end = scan.envelopeFirstItem[envelope + 1]!;
  for (let item = scan.envelopeFirstItem[envelope]!; item + 1 < end; item += 2) {
    const key = itemOf(script, scan, item);
    // an empty key: the body follows
    if (key.length === 0) break;
    if (key.length !== 1 || key[0] !== envelopeTags.pointer) continue;
    const value = itemOf(script, scan, item + 1);
    return pointerValue(value, 0, value.length);
  }
  return Number.NaN;
}

function itemOf(script: Uint8Array, scan: ScriptScan, item: number): Uint8Array {
  const start = scan.itemStart[item]!;
  const length = scan.itemLength[item]!;
  return length < 0 ? Uint8Array.of(pushedNumber(script[start]!)) : script.subarray(start, start + length);
}
