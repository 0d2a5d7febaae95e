import { inject } from 'vitest';

/** The address of the one node that all test files of a run share. It is started for the first that asks. */
export async function sharedElasticsearch(): Promise<string> {
  const answer = await fetch(inject('elasticsearchDoor'));
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
