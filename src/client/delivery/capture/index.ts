export { createCapture } from './capture.ts';
