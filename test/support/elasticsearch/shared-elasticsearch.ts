import { inject } from 'vitest';

/** The address of the one node shared by all test files of a run. The first request starts it. */
export async function sharedElasticsearch(): Promise<string> {
  const answer = await fetch(inject('elasticsearchDoor'));
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
