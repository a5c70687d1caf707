import { useEffect, useState } from 'preact/hooks';

/** Light cells around the code, without which cameras do not find it: as many as its standard asks for. */
const QUIET = 4;

/** A link for a phone's camera. The library is loaded for it. */
export const QrCode = ({ text }: { text: string }) => {
  const [cells, setCells] = useState<boolean[][] | null>(null);
  useEffect(() => {
    let isLatest = true;
    void import('uqr').then(({ encode }) => {
      if (isLatest) setCells(encode(text, { border: QUIET }).data);
    });
    return () => {
      isLatest = false;
    };
  }, [text]);
  if (!cells) return <div class="qr" aria-busy="true" />;
  const path = cells
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return (
    <figure class="qr">
      <svg
        viewBox={`0 0 ${cells.length} ${cells.length}`}
        role="img"
        aria-label="QR code of the link"
        shape-rendering="crispEdges"
      >
        <rect width="100%" height="100%" fill="#fff" />
        <path d={path} fill="#000" />
      </svg>
      <figcaption class="field-help">Point a phone's camera at it.</figcaption>
    </figure>
  );
};
