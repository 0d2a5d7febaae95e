import { move, transferableSymbol, valueSymbol } from 'piscina';
import { type AnswerTask, readAnswer } from './large-answers.ts';

/** Parses the bytes of an answer. The bytes and the result are transferred between the threads, not copied. */
export default function read(task: AnswerTask): unknown {
  const answer = readAnswer(task);
  const buffers =
    answer.kind === 'read'
      ? Object.values(answer.value as unknown as Record<string, unknown>).flatMap((part) =>
          ArrayBuffer.isView(part) ? [part.buffer] : [],
        )
      : [];
  return move({ [transferableSymbol]: buffers, [valueSymbol]: answer } as unknown as Parameters<
    typeof move
  >[0]);
}
