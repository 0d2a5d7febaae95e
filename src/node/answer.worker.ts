import { move, transferableSymbol, valueSymbol } from 'piscina';
import { type AnswerTask, readAnswer } from './large-answers.ts';

/** Takes the bytes of an answer and returns what it says; both are transferred. */
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
