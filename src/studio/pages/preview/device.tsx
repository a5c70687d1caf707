import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { FrameProblem, FrameReport, FrameRequest } from './frame.ts';

interface DeviceProps {
  /** Of the page in it, in pixels. */
  width: number;
  request: FrameRequest;
  onDrawn(problems: FrameProblem[]): void;
}

const MAX_HEIGHT = 900;

/** A page of a real width; only its picture gets smaller where there is less room. */
export const Device = ({ width, request, onDrawn }: DeviceProps) => {
  const glass = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  const room = useSignal(0);
  const height = useSignal(480);
  const isReady = useSignal(false);
  const text = JSON.stringify(request);

  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => {
      room.value = entry!.contentRect.width;
    });
    if (glass.current) watcher.observe(glass.current);
    return () => watcher.disconnect();
  }, [room]);

  useEffect(() => {
    const hear = ({ source, data }: MessageEvent<FrameReport>) => {
      if (source !== frame.current?.contentWindow) return;
      if (data.type === 'placard:preview-ready') isReady.value = true;
      if (data.type === 'placard:preview-drawn') {
        height.value = Math.min(data.height, MAX_HEIGHT);
        onDrawn(data.problems);
      }
    };
    addEventListener('message', hear);
    return () => removeEventListener('message', hear);
  }, [onDrawn, isReady, height]);

  useEffect(() => {
    if (isReady.value) frame.current?.contentWindow?.postMessage(JSON.parse(text), location.origin);
  }, [text, isReady.value]);

  const scale = room.value === 0 ? 1 : Math.min(1, room.value / width);
  return (
    <div class="glass" ref={glass} style={{ blockSize: `${height.value * scale + 2}px` }}>
      <iframe
        ref={frame}
        src="/preview.html"
        title={`The banner on a page ${width} pixels wide`}
        tabIndex={-1}
        style={{
          inlineSize: `${width}px`,
          blockSize: `${height.value}px`,
          scale: String(scale),
          marginInlineStart: `${Math.max(0, (room.value - width * scale) / 2)}px`,
        }}
      />
    </div>
  );
};
