import { opPushData4, pushAt } from '#kernel/bitcoin/script-push.ts';

const opFalse = 0x00;
const opIf = 0x63;
const opEndIf = 0x68;
const opCheckSig = 0xac;
const keyBytes = 32;
/**
 * Maximum number of bytes of a push (Bitcoin Core's MAX_SCRIPT_ELEMENT_SIZE). The maximum also applies to pushes that
 * are not executed (interpreter.cpp, EvalScript).
 */
const pushBytesMax = 520;

/** Kinds of values that the template of a leaf can put on the stack. */
type Item = 'signature' | 'key' | 'false' | 'true';

/**
 * Executes the leaf of an order with a witness that has one signature of the key, according to the rules of nodes (BIP
 * 342). Returns the reason why it fails, or null if it succeeds. Only one template is allowed: `<key> OP_CHECKSIG`,
 * then envelopes, `OP_FALSE OP_IF pushes OP_ENDIF`. Everything else is a fault, especially OP_SUCCESS, because anyone
 * may spend an output with it.
 */
export function leafFault(script: Uint8Array, key: Uint8Array): string | null {
  const run = new LeafRun(key);
  let at = 0;
  while (at < script.length) {
    const opcode = script[at] ?? opFalse;
    if (opcode > opPushData4) {
      const fault = run.operation(opcode);
      if (fault !== null) return fault;
      at++;
      continue;
    }
    const push = pushAt(script, at, script.length);
    if (push === null) return 'it ends within a push';
    const fault = run.push(opcode, script.subarray(push.start, push.end));
    if (fault !== null) return fault;
    at = push.end;
  }
  return run.end();
}

class LeafRun {
  readonly #key: Uint8Array;
  #stack: readonly Item[] = ['signature'];
  #isSkipping = false;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  push(opcode: number, bytes: Uint8Array): string | null {
    if (bytes.length > pushBytesMax)
      return `it pushes ${bytes.length} bytes, but nodes accept at most ${pushBytesMax}`;
    if (this.#isSkipping) return null;
    if (opcode === opFalse) return this.#put('false');
    // the push that is executed must be in its shortest form
    if (opcode !== keyBytes || Buffer.compare(bytes, this.#key) !== 0)
      return 'it pushes something other than the key';
    return this.#put('key');
  }

  operation(opcode: number): string | null {
    if (opcode === opEndIf && this.#isSkipping) {
      this.#isSkipping = false;
      return null;
    }
    if (this.#isSkipping) return `an envelope has the opcode ${hex(opcode)}`;
    if (opcode === opCheckSig) return this.#replace(['signature', 'key'], ['true']);
    if (opcode !== opIf) return `it has the opcode ${hex(opcode)}`;
    this.#isSkipping = true;
    return this.#replace(['true', 'false'], ['true']);
  }

  /**
   * Checks the end of the script. A tapscript succeeds if the stack has exactly one value, and the value is true (BIP
   * 342).
   */
  end(): string | null {
    if (this.#isSkipping) return 'an envelope has no end';
    return isSame(this.#stack, ['true']) ? null : 'it leaves other values than a single true value';
  }

  #put(item: Item): string | null {
    // the template never has more than two values on the stack
    if (this.#stack.length > 1) return 'it pushes more values than it uses';
    this.#stack = [...this.#stack, item];
    return null;
  }

  #replace(expected: readonly Item[], result: readonly Item[]): string | null {
    if (!isSame(this.#stack, expected)) return 'it does not begin with the key and OP_CHECKSIG';
    this.#stack = result;
    return null;
  }
}

const isSame = (stack: readonly Item[], expected: readonly Item[]): boolean =>
  stack.length === expected.length && stack.every((item, place) => item === expected[place]);

const hex = (opcode: number): string => `0x${opcode.toString(16).padStart(2, '0')}`;
