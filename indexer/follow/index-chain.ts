export { follow as indexChain } from './follow.ts';
export type {
  FollowOptions as IndexChainOptions,
  IndexProgress,
  IndexSummary,
} from './follow-options.ts';
