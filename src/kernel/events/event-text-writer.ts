import { strict as assert } from 'node:assert';
import { createHash, type Hash } from 'node:crypto';
import { charms } from '#kernel/primitives/charm.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { EventKindIdentity } from './event-kind.ts';

/** ord's charms that need no sat numbers. All other charms depend on the set-up of an instance. */
const eventCharms =
  charms.cursed | charms.lost | charms.reinscription | charms.unbound | charms.vindicated | charms.burned;

/**
 * Number of bytes that are hashed at once. With this size, a call of the hash costs little. The text of a usual block
 * is about as long.
 */
const chunkBytes = 1 << 18;
/**
 * Maximum number of bytes of a value. An outpoint with its offset has 64 + 1 + 10 + 1 + 16 characters, and an id has 64
 * + 1 + 10.
 */
const valueBytesMax = 128;
/**
 * Maximum number of bytes that are written as hex at once. Each byte takes two characters, so together they take the
 * maximum length of a value.
 */
const hexBytesAtOnce = valueBytesMax / 2;
/** Maximum number of bytes of a stored text (some 150,000 events in a block). A longer text is rebuilt on request. */
const keptBytesMax = 32 * 1024 * 1024;

const hexDigits = Buffer.from('0123456789abcdef', 'latin1');
const hexHigh = Uint8Array.from({ length: 256 }, (_, byte) => hexDigits[byte >> 4]!);
const hexLow = Uint8Array.from({ length: 256 }, (_, byte) => hexDigits[byte & 15]!);
const hashLength = 32;

const words = {
  created: Buffer.from('created ', 'latin1'),
  transferred: Buffer.from('transferred ', 'latin1'),
  lost: Buffer.from(`${'0'.repeat(64)}:4294967295`, 'latin1'),
};
const [space, comma, colon, dash, question, newline, zero, letterI] = Buffer.from(
  ' ,:-?\n0i',
  'latin1',
) as unknown as [number, number, number, number, number, number, number, number];
const smallMax = 2 ** 31;

/** The canonical text of one block, or only the hash of this text. */
export interface EventText {
  /** sha256 of the text. */
  readonly sha256: Buffer;
  readonly sizeBytes: number;
  /** The text, if it was requested and is not too long. */
  readonly text: Buffer | null;
}

/**
 * Writes canonical texts of blocks (docs/events.md), value by value, into a reused buffer. A line takes about half a
 * microsecond, hash included. The writer knows the form of values, but not the order of events.
 */
export class EventTextWriter {
  readonly #bytes = new Uint8Array(chunkBytes);
  readonly #keptBytesMax: number;
  #at = 0;
  #hash: Hash = createHash('sha256');
  #kept: Buffer[] | null = null;
  #doneBytes = 0;

  /** @param bytesMax maximum number of bytes of a kept text; if absent, the limit of stored texts */
  constructor(bytesMax = keptBytesMax) {
    this.#keptBytesMax = bytesMax;
  }

  /** Begins the text of a block with the line that names it. `hash` is in internal order. */
  begin(
    kind: EventKindIdentity,
    network: string,
    { height, hash }: { readonly height: Height; readonly hash: BlockHash },
    keep: boolean,
  ): void {
    this.#at = 0;
    this.#doneBytes = 0;
    this.#hash = createHash('sha256');
    this.#kept = keep ? [] : null;
    this.word(Buffer.from(`satscribe ${kind.name} ${kind.version} ${network} `, 'latin1'));
    this.#integer(height);
    this.#byte(space);
    this.#hashHex(hash, 0);
    this.#byte(newline);
  }

  /**
   * Writes `created <id> <sequence> <number> <charms> `. The location must follow. A value is null if it is unknown.
   */
  created(
    txids: Uint8Array,
    txidAt: number,
    index: number,
    sequence: number | null,
    number: number | null,
    charmBits: number | null,
  ): void {
    this.word(words.created);
    this.#subject(txids, txidAt, index, sequence);
    this.#known(number);
    this.#byte(space);
    this.#known(charmBits === null ? null : charmBits & eventCharms);
    this.#byte(space);
  }

  /** Writes `transferred <id> <sequence> `. The old and the new location must follow. */
  transferred(txids: Uint8Array, txidAt: number, index: number, sequence: number | null): void {
    this.word(words.transferred);
    this.#subject(txids, txidAt, index, sequence);
  }

  /** `<txid>:<vout>:<offset>` */
  inOutput(txids: Uint8Array, txidAt: number, vout: number, satOffset: number): void {
    this.#hashHex(txids, txidAt);
    this.#byte(colon);
    this.#integer(vout);
    this.#byte(colon);
    this.#integer(satOffset);
  }

  /**
   * Writes the null outpoint without an offset. The offset would depend on whether ord counted sats from the first
   * block on.
   */
  lost(): void {
    this.word(words.lost);
  }

  /** Writes an absent value. */
  none(): void {
    this.#reserve();
    this.#byte(dash);
  }

  unknown(): void {
    this.#reserve();
    this.#byte(question);
  }

  /** Writes parent number `position` of a list. */
  parent(position: number, txids: Uint8Array, txidAt: number, index: number): void {
    this.#reserve();
    if (position > 0) this.#byte(comma);
    this.id(txids, txidAt, index);
  }

  /** Writes the id of an inscription, from the 32 bytes of its txid and its index in the transaction. */
  id(txids: Uint8Array, txidAt: number, index: number): void {
    this.#hashHex(txids, txidAt);
    this.#byte(letterI);
    this.#integer(index);
  }

  /** A txid. */
  transaction(txids: Uint8Array, txidAt: number): void {
    this.#hashHex(txids, txidAt);
  }

  /** `<txid>:<vout>` */
  output(txids: Uint8Array, txidAt: number, vout: number): void {
    this.#hashHex(txids, txidAt);
    this.#byte(colon);
    this.#integer(vout);
  }

  /** Writes `<height>:<index of the transaction>`. */
  runeId(height: number, tx: number): void {
    this.#reserve();
    this.#integer(height);
    this.#byte(colon);
    this.#integer(tx);
  }

  /** Writes an integer of up to 128 bits, in decimal digits. */
  amount(value: number | bigint): void {
    this.#reserve();
    if (typeof value === 'number') this.#integer(value);
    else this.word(Buffer.from(String(value), 'latin1'));
  }

  /** Writes ASCII words with the blanks between them, in less than 128 bytes. */
  word(word: Uint8Array): void {
    assert(word.length < valueBytesMax, 'a word of a canonical text is too long');
    this.#reserve();
    const bytes = this.#bytes;
    const at = this.#at;
    for (let index = 0; index < word.length; index++) bytes[at + index] = word[index]!;
    this.#at = at + word.length;
  }

  /** Writes any number of bytes in hex. Zero bytes result in zero characters. */
  hex(source: Uint8Array): void {
    const bytes = this.#bytes;
    for (let from = 0; from < source.length; from += hexBytesAtOnce) {
      this.#reserve();
      let at = this.#at;
      for (let index = from; index < Math.min(from + hexBytesAtOnce, source.length); index++) {
        const byte = source[index]!;
        bytes[at] = hexHigh[byte]!;
        bytes[at + 1] = hexLow[byte]!;
        at += 2;
      }
      this.#at = at;
    }
  }

  /** Writes the separator between two values of a line. */
  next(): void {
    this.#reserve();
    this.#byte(space);
  }

  endLine(): void {
    this.#reserve();
    this.#byte(newline);
  }

  /** Ends the text. */
  finish(): EventText {
    const sizeBytes = this.#doneBytes + this.#at;
    this.#flush();
    return {
      sha256: this.#hash.digest(),
      sizeBytes,
      text: this.#kept === null ? null : Buffer.concat(this.#kept),
    };
  }

  #subject(txids: Uint8Array, txidAt: number, index: number, sequence: number | null): void {
    this.id(txids, txidAt, index);
    this.#byte(space);
    this.#known(sequence);
    this.#byte(space);
  }

  #known(value: number | null): void {
    if (value === null) this.#byte(question);
    else this.#integer(value);
  }

  /** Writes 32 bytes in display order, which is reversed. */
  #hashHex(source: Uint8Array, from: number): void {
    this.#reserve();
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = from + hashLength - 1; index >= from; index--) {
      const byte = source[index]!;
      bytes[at] = hexHigh[byte]!;
      bytes[at + 1] = hexLow[byte]!;
      at += 2;
    }
    this.#at = at;
  }

  /** Writes a safe integer in decimal digits. */
  #integer(value: number): void {
    if (value < 0 || value >= smallMax) {
      this.word(Buffer.from(String(value), 'latin1'));
      return;
    }
    let digits = 1;
    for (let bound = 10; value >= bound; bound *= 10) digits++;
    const bytes = this.#bytes;
    let rest = value | 0;
    for (let at = this.#at + digits - 1; at >= this.#at; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.#at += digits;
  }

  /**
   * Writes a byte. The previous value has already reserved the room for it, because `valueBytesMax` far exceeds any
   * value with its separators.
   */
  #byte(value: number): void {
    this.#bytes[this.#at++] = value;
  }

  #reserve(): void {
    if (this.#at + 2 * valueBytesMax > this.#bytes.length) this.#flush();
  }

  #flush(): void {
    const chunk = this.#bytes.subarray(0, this.#at);
    this.#hash.update(chunk);
    this.#doneBytes += this.#at;
    if (this.#doneBytes > this.#keptBytesMax) this.#kept = null;
    this.#kept?.push(Buffer.from(chunk));
    this.#at = 0;
  }
}
