import { type BodyKind, type ParsedBody, parseBody } from './parse-body.ts';

export interface BodyTask {
  readonly kind: BodyKind;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Takes the bytes of a large body, which are transferred, and returns what it says. */
export default function parse({ kind, bytes }: BodyTask): ParsedBody {
  return parseBody(kind, bytes);
}
