/** Writes Bitcoin's little-endian encodings one after another into a buffer that grows by doubling. */
export class ByteWriter {
  bytes: Buffer<ArrayBuffer>;
  length = 0;

  constructor(capacity = 1024) {
    this.bytes = Buffer.allocUnsafeSlow(capacity);
  }

  #reserve(count: number): number {
    const at = this.length;
    this.length = at + count;
    if (this.length > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.length, this.bytes.length * 2));
      larger.set(this.bytes.subarray(0, at));
      this.bytes = larger;
    }
    return at;
  }

  u8(value: number): void {
    const at = this.#reserve(1);
    this.bytes[at] = value;
  }

  u32(value: number): void {
    const at = this.#reserve(4);
    this.bytes.writeUInt32LE(value >>> 0, at);
  }

  /** Writes eight bytes. The value is exact up to 2^53. */
  u64(value: number): void {
    this.u32(value % 2 ** 32);
    this.u32(Math.floor(value / 2 ** 32));
  }

  compactSize(value: number): void {
    if (value < 0xfd) return this.u8(value);
    if (value <= 0xffff) {
      const at = this.#reserve(3);
      this.bytes[at] = 0xfd;
      this.bytes.writeUInt16LE(value, at + 1);
      return;
    }
    this.u8(0xfe);
    this.u32(value);
  }

  set(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.bytes.set(bytes, at);
  }

  /** Writes a compact size and the bytes. Scripts and witness items have this encoding. */
  sized(bytes: Uint8Array): void {
    this.compactSize(bytes.length);
    this.set(bytes);
  }

  /** The written bytes, as a view that the next `clear` and write overwrite. */
  view(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  /** A copy of the written bytes. */
  copy(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view());
  }

  clear(): void {
    this.length = 0;
  }
}
