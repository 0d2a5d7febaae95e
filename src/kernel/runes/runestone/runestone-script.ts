import { opPushData4, pushAt, pushPrefix } from '#kernel/bitcoin/script-push.ts';
import type { Flaw } from './artifact.ts';

const opReturn = 0x6a;
const op13 = 0x5d;
const prefixLength = 2;

/**
 * Whether a script is a runestone, well formed or not. Only the first such output of a transaction is its runestone.
 */
export function isRunestoneScript(script: Uint8Array): boolean {
  return script[0] === opReturn && script[1] === op13;
}

/** A range of bytes. */
export interface Payload {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** The data of all pushes after OP_RETURN OP_13, joined. Returns a flaw if the script has anything else. */
export function payloadOf(bytes: Uint8Array, start: number, end: number): Payload | Flaw {
  let at = start + prefixLength;
  let pushes: Uint8Array[] | null = null;
  let only: Payload | null = null;
  while (at < end) {
    if (bytes[at]! > opPushData4) return 'opcode';
    const push = pushAt(bytes, at, end);
    if (push === null) return 'invalid-script';
    // nearly every runestone has one push, which is read without copying
    if (push.end === end && pushes === null) only = { bytes, start: push.start, end };
    else if (push.end > push.start) (pushes ??= []).push(bytes.subarray(push.start, push.end));
    at = push.end;
  }
  if (only !== null) return only;
  const joined = Buffer.concat(pushes ?? []);
  return { bytes: joined, start: 0, end: joined.length };
}

/** The script of a payload: OP_RETURN OP_13 and one push. If the payload is empty, there is no push. */
export function runestoneScript(payload: readonly number[]): Uint8Array {
  const prefix = [opReturn, op13, ...pushPrefix(payload.length)];
  const script = new Uint8Array(prefix.length + payload.length);
  script.set(prefix);
  script.set(payload, prefix.length);
  return script;
}
