import { createInterface, type Interface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { AppError } from '#kernel/errors/app-error.ts';
import { terminalLines } from '#kernel/text/terminal-text.ts';

/** A question, with the answer that Enter gives. */
export interface Question {
  readonly text: string;
  /** Empty: Enter leaves the setting unset. */
  readonly usual: string;
  /** The input is not shown, and neither is the usual answer. */
  readonly isSecret?: boolean;
  /** Why an answer is wrong. Null: it is accepted. */
  readonly check?: (answer: string) => string | null | Promise<string | null>;
}

/** Asks a person on a terminal, one question after another. */
export interface Asking {
  /** The accepted answer. Wrong answers are refused with their reason and asked again. */
  ask(question: Question): Promise<string>;
  /** A question with the answers yes and no. */
  confirm(text: string, usual: boolean): Promise<boolean>;
  say(text: string): void;
  close(): void;
}

export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
  /** Called for Ctrl-C, which a terminal that is read by lines does not send as a signal. */
  readonly onInterrupt: () => void;
}

/** Ctrl-D at a question throws `not_confirmed`; an end of the signal rejects. */
export function openAsking({ input, output, signal, onInterrupt }: Terminal): Asking {
  let isHidden = false;
  const shown = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (isHidden) done();
      else output.write(chunk, () => done());
    },
  });
  const lines = createInterface({ input, output: shown, terminal: true, historySize: 0 });
  lines.on('SIGINT', onInterrupt);
  const next = nextLine(lines, signal);
  const say = (text: string): void => {
    output.write(terminalLines(`${text}\n`));
  };
  const readAnswer = async ({ text, usual, isSecret = false }: Question): Promise<string> => {
    const hint = isSecret && usual !== '' ? '[as before]' : `[${usual === '' ? 'none' : usual}]`;
    const prompt = terminalLines(`${text} ${hint}: `);
    lines.setPrompt(isSecret ? '' : prompt);
    if (isSecret) output.write(prompt);
    isHidden = isSecret;
    lines.prompt();
    try {
      return (await next()).trim();
    } finally {
      isHidden = false;
      if (isSecret) output.write('\n');
    }
  };
  const ask = async (question: Question): Promise<string> => {
    for (;;) {
      const typed = await readAnswer(question);
      const answer = typed === '' ? question.usual : typed === 'none' ? '' : typed;
      const fault = (await question.check?.(answer)) ?? null;
      if (fault === null) return answer;
      say(`  ${fault}`);
    }
  };
  return {
    ask,
    confirm: async (text, usual) => {
      const answer = await ask({
        text: `${text} (yes or no)`,
        usual: usual ? 'yes' : 'no',
        check: (given) => (/^(?:y|yes|n|no)$/iu.test(given) ? null : 'Type yes or no.'),
      });
      return /^y/iu.test(answer);
    },
    say,
    close: () => lines.close(),
  };
}

/** Gives the lines one by one. Lines that are typed before their question wait for it. */
function nextLine(lines: Interface, signal: AbortSignal): () => Promise<string> {
  const waiting: string[] = [];
  let isClosed = false;
  let wake = (): void => undefined;
  lines.on('line', (line) => {
    waiting.push(line);
    wake();
  });
  lines.on('close', () => {
    isClosed = true;
    wake();
  });
  signal.addEventListener('abort', () => wake());
  return async () => {
    for (;;) {
      signal.throwIfAborted();
      const line = waiting.shift();
      if (line !== undefined) return line;
      if (isClosed)
        throw new AppError('not_confirmed', 'The input ended before the last answer: nothing was written.');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}
