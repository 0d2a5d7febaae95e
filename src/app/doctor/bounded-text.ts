/** Reads the text of an answer. Throws if it has more bytes than the maximum. */
export async function boundedText(answer: Response, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | null = answer.body;
  if (body === null) return '';
  for await (const part of body) {
    size += part.length;
    if (size > bytesMax) throw new Error(`an answer has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
