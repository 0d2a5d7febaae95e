import { listenToNews } from './live.js';

listenToNews();
