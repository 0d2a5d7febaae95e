import type { ParsedBody } from './parse-body.ts';

/** Reads a body while it arrives. */
export interface BodyReader {
  /** Takes the next bytes, which may be changed afterwards. Throws `bodies_busy` and `too_many_at_once`. */
  append(chunk: Uint8Array): void;
  /** The body as a value. Nothing may be appended afterwards. */
  end(): Promise<ParsedBody>;
}
