/** What the blocks to come will take, and what there is. */
export interface DiskNeed {
  readonly neededBytes: number;
  readonly freeBytes: number;
  readonly folder: string;
}
