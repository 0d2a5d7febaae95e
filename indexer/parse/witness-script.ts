/**
 * Positions of the items of a script's envelopes. Nothing is copied, and the arrays are reused for the next script.
 *
 * `itemLength` is -1 if a number opcode pushes the item: `itemStart` is then the offset of the opcode.
 */
export class ScriptScan {
  itemStart = new Int32Array(1 << 12);
  itemLength = new Int32Array(1 << 12);
  items = 0;
  /** Index of the first item of each envelope. One more element is the end of the last envelope. */
  envelopeFirstItem = new Int32Array(1 << 8);
  /** `pushnum` and `stutter` bits of each envelope. */
  envelopeBits = new Uint8Array(1 << 8);
  envelopes = 0;
}

export const scanBits = { pushnum: 1, stutter: 2 } as const;

const opIf = 0x63;
const opEndIf = 0x68;
const opNegative1 = 0x4f;
const op1 = 0x51;
const op16 = 0x60;
const opPushData1 = 0x4c;
const opPushData4 = 0x4e;

/** The byte that a number opcode pushes. */
export function pushedNumber(opcode: number): number {
  return opcode === opNegative1 ? 0x81 : opcode - op1 + 1;
}

/**
 * Finds the envelopes of a script by the rules of ord's `envelope.rs`: an empty push, OP_IF, a push of "ord", items,
 * OP_ENDIF. Any encoding of a push is accepted. If any push extends beyond the end, the whole script is invalid (zero
 * envelopes). An opcode that is not a push aborts an envelope, and the search continues after it. Time is linear in the
 * script.
 */
// oxlint-disable-next-line complexity -- runs over the witness of every input, most of which end it within ten steps
export function scanScript(scan: ScriptScan, script: Uint8Array, start: number, end: number): number {
  scan.items = 0;
  scan.envelopes = 0;
  let at = start;
  let stutter = 0;
  while (at < end) {
    const opcode = script[at++]!;
    if (opcode > opPushData4) continue;
    let length = opcode;
    if (opcode >= opPushData1) {
      const width = 1 << (opcode - opPushData1);
      if (at + width > end) return none(scan);
      length = readLength(script, at, width);
      at += width;
    }
    at += length;
    if (length > 0) continue;
    // an empty push may open an envelope
    const opens = at < end && script[at] === opIf;
    if (opens) at++;
    const inside = opens ? afterProtocolId(script, at, end) : 0;
    if (inside === 0) {
      stutter = isEmptyPush(script, at, end) ? scanBits.stutter : 0;
      continue;
    }
    at = scanItems(scan, script, inside, end, stutter);
    // a negative offset means that it is not an envelope
    if (at < 0) {
      at = -at;
      stutter = 0;
    }
  }
  return at > end ? none(scan) : scan.envelopes;
}

/**
 * Reads the items of an envelope that was opened before `start`. Returns the offset of its end. The result is negative
 * if it is not an envelope, because another opcode or the end of the script precedes OP_ENDIF. The result is after
 * `end` if a push exceeds the script.
 */
function scanItems(
  scan: ScriptScan,
  script: Uint8Array,
  start: number,
  end: number,
  stutter: number,
): number {
  const firstItem = scan.items;
  let pushnum = 0;
  let at = start;
  while (at < end) {
    const opcode = script[at++]!;
    if (opcode <= opPushData4) {
      let length = opcode;
      if (opcode >= opPushData1) {
        const width = 1 << (opcode - opPushData1);
        if (at + width > end) return end + 1;
        length = readLength(script, at, width);
        at += width;
      }
      addItem(scan, at, length);
      at += length;
    } else if (opcode === opEndIf) {
      addEnvelope(scan, firstItem, pushnum | stutter);
      return at;
    } else if (opcode === opNegative1 || (opcode >= op1 && opcode <= op16)) {
      pushnum = scanBits.pushnum;
      addItem(scan, at - 1, -1);
    } else {
      break;
    }
  }
  scan.items = firstItem;
  return at > end ? at : -at;
}

function none(scan: ScriptScan): number {
  scan.items = 0;
  scan.envelopes = 0;
  return 0;
}

function readLength(script: Uint8Array, at: number, width: number): number {
  let length = 0;
  for (let index = width - 1; index >= 0; index--) length = length * 256 + script[at + index]!;
  return length;
}

/** The end of the push of "ord" at `at`. 0: there is no such push. */
function afterProtocolId(script: Uint8Array, at: number, end: number): number {
  const opcode = at < end ? script[at]! : 0;
  let from = at + 1;
  if (opcode >= opPushData1 && opcode <= opPushData4) {
    const width = 1 << (opcode - opPushData1);
    if (at + 1 + width > end || readLength(script, at + 1, width) !== 3) return 0;
    from += width;
  } else if (opcode !== 3) {
    return 0;
  }
  if (from + 3 > end) return 0;
  return script[from] === 0x6f && script[from + 1] === 0x72 && script[from + 2] === 0x64 ? from + 3 : 0;
}

function isEmptyPush(script: Uint8Array, at: number, end: number): boolean {
  if (at >= end) return false;
  const opcode = script[at]!;
  if (opcode === 0) return true;
  if (opcode < opPushData1 || opcode > opPushData4) return false;
  const width = 1 << (opcode - opPushData1);
  return at + 1 + width <= end && readLength(script, at + 1, width) === 0;
}

function addItem(scan: ScriptScan, start: number, length: number): void {
  if (scan.items === scan.itemStart.length) {
    scan.itemStart = doubled(scan.itemStart);
    scan.itemLength = doubled(scan.itemLength);
  }
  scan.itemStart[scan.items] = start;
  scan.itemLength[scan.items++] = length;
}

function addEnvelope(scan: ScriptScan, firstItem: number, bits: number): void {
  if (scan.envelopes + 1 === scan.envelopeFirstItem.length) {
    scan.envelopeFirstItem = doubled(scan.envelopeFirstItem);
    const grown = new Uint8Array(scan.envelopeFirstItem.length);
    grown.set(scan.envelopeBits);
    scan.envelopeBits = grown;
  }
  scan.envelopeFirstItem[scan.envelopes] = firstItem;
  scan.envelopeBits[scan.envelopes++] = bits;
  scan.envelopeFirstItem[scan.envelopes] = scan.items;
}

function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(array.length * 2);
  grown.set(array);
  return grown;
}
