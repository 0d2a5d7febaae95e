/**
 * Works on at most `lanes` items at once, in order. Rejects with the first failure. After a failure, no new work
 * begins.
 */
export async function inLanes<Given, Made>(
  given: readonly Given[],
  lanes: number,
  work: (each: Given, place: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  const queue = given.entries();
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    for (const [place, each] of queue) {
      if (hasFailed) return;
      try {
        made[place] = await work(each, place);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return made;
}
