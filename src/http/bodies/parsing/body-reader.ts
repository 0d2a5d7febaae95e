import type { ParsedBody } from './parse-body.ts';

/** Reads a body while it arrives. */
export interface BodyReader {
  /** Reads the next bytes. The caller may change them afterwards. Throws `bodies_busy` and `too_many_at_once`. */
  append(chunk: Uint8Array): void;
  /** Returns the body as a value. No bytes may be appended afterwards. */
  end(): Promise<ParsedBody>;
}
