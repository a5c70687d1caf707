export {
  createStudioClient,
  type StudioClient,
  type StudioClientOptions,
  StudioError,
  type StudioRequest,
} from './studio-client.ts';
