const wordsInLine = 6;

const fiveThings = `A backup has five parts: the schema service, FILES_DIR, the seed, its mark file and the service secret
(docs/runbook.md, "Backups").
`;

/**
 * The advice for a person who has just created a wallet. The words are `null` if the output is not a terminal, because
 * the output may be a log.
 */
export function backupAdvice(words: string | null): string {
  if (words === null)
    return `\nThe words of the seed are not printed, because the output is not a terminal. Copy them from the file to paper.\n${fiveThings}`;
  const numbered = words
    .split(' ')
    .map((word, place) => `${String(place + 1).padStart(2)} ${word}`.padEnd(12));
  const lines: string[] = [];
  for (let place = 0; place < numbered.length; place += wordsInLine)
    lines.push(
      `  ${numbered
        .slice(place, place + wordsInLine)
        .join(' ')
        .trimEnd()}`,
    );
  return `
The words of the seed, shown only now:

${lines.join('\n')}

Write these words on paper, in this order, and then clear this screen. Keep the paper where no one else can
read it, because anyone who has these words can take the money of all orders. If both the words and the file
are lost, that money is lost.
${fiveThings}`;
}
