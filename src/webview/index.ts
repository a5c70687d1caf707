export type { HostMessage } from './host-message.ts';
export { createWebviewHost, type WebviewHost, type WebviewHostOptions } from './webview-host.ts';
