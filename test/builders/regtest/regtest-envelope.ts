/** The content of an envelope. The tags are those of ord. */
export interface EnvelopeContent {
  readonly contentType?: string;
  readonly body?: Uint8Array | string;
  /** Ids in display form. */
  readonly parents?: readonly string[];
  readonly delegate?: string;
  readonly pointer?: number;
  readonly metaprotocol?: string;
  /** CBOR. */
  readonly metadata?: Uint8Array;
  /** Any other fields. */
  readonly fields?: readonly (readonly [tag: number, value: Uint8Array])[];
}

const pushBytesMax = 520;

function push(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  if (length <= 75) return Buffer.concat([Buffer.from([length]), bytes]);
  if (length <= 255) return Buffer.concat([Buffer.from([0x4c, length]), bytes]);
  return Buffer.concat([Buffer.from([0x4d, length & 0xff, length >> 8]), bytes]);
}

function chunks(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / pushBytesMax);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * pushBytesMax, (index + 1) * pushBytesMax),
  );
}

/** The bytes of an id in a field: the txid, and the index without trailing zeros. */
export function idBytes(id: string): Buffer {
  const [txid = '', index = '0'] = id.split('i');
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(Number(index));
  let length = 4;
  while (length > 0 && tail[length - 1] === 0) length--;
  return Buffer.concat([Buffer.from(txid, 'hex').reverse(), tail.subarray(0, length)]);
}

function pointerBytes(offset: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(offset));
  return bytes;
}

/** The script of one envelope. Several scripts one after another make several inscriptions. */
export function envelopeScript(content: EnvelopeContent): Buffer {
  const { contentType, body, parents = [], delegate, pointer, metaprotocol, metadata, fields = [] } = content;
  const all: (readonly [number, Uint8Array])[] = [
    ...(contentType === undefined ? [] : [[1, Buffer.from(contentType)] as const]),
    ...(pointer === undefined ? [] : [[2, pointerBytes(pointer)] as const]),
    ...parents.map((id) => [3, idBytes(id)] as const),
    ...(metadata === undefined ? [] : chunks(metadata).map((chunk) => [5, chunk] as const)),
    ...(metaprotocol === undefined ? [] : [[7, Buffer.from(metaprotocol)] as const]),
    ...(delegate === undefined ? [] : [[11, idBytes(delegate)] as const]),
    ...fields,
  ];
  return Buffer.concat([
    Buffer.from([0x00, 0x63]),
    push(Buffer.from('ord')),
    ...all.map(([tag, value]) => Buffer.concat([push(Buffer.from([tag])), push(value)])),
    ...(body === undefined ? [] : [Buffer.from([0x00]), ...chunks(Buffer.from(body)).map(push)]),
    Buffer.from([0x68]),
  ]);
}
