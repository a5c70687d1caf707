import { useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { PreviewLinkAnswer } from '../../server/routes/preview-links.ts';
import { call, wordsOf } from '../call.ts';
import type { Editor } from '../editor/editor-state.ts';
import { Dialog } from '../parts/dialog.tsx';
import { announce } from '../parts/problem.tsx';
import { signedIn } from '../shell/session.ts';

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

interface SiteLinkDialogProps {
  editor: Editor;
  variantId: string;
  /** `null`: somebody of whom nothing is known. */
  persona: string | null;
  onClose(): void;
}

/** A link that shows the draft on the site itself, for this window and for a phone. */
export const SiteLinkDialog = ({ editor, variantId, persona, onClose }: SiteLinkDialogProps) => {
  const { sites } = signedIn().workspace;
  const page = useSignal(`${sites[0]}/`);
  const link = useSignal<string | null>(null);
  const problem = useSignal<string | null>(null);
  const address = page.value;

  useEffect(() => {
    let isLatest = true;
    const timer = setTimeout(async () => {
      try {
        const answer = await call<PreviewLinkAnswer>('POST', '/api/preview-links', {
          body: {
            campaign_id: editor.id,
            revision: editor.revision(),
            variant_id: variantId,
            persona,
            page: address,
          },
        });
        if (!isLatest) return;
        link.value = answer.url;
        problem.value = null;
      } catch (error) {
        if (!isLatest) return;
        link.value = null;
        problem.value = wordsOf(error);
      }
    }, 300);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [address, editor, variantId, persona, link, problem]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link.value!);
      announce('The link is copied.');
    } catch {
      problem.value = 'The browser does not let the Studio copy: open the link and copy its address.';
    }
  };
  return (
    <Dialog
      title="Preview on the site"
      onClose={onClose}
      closeName="Close"
      actions={
        <>
          <button type="button" class="button" disabled={link.value === null} onClick={() => void copy()}>
            Copy link
          </button>
          {link.value !== null && (
            <a class="button primary" href={link.value} target="_blank" rel="noreferrer">
              Open it
            </a>
          )}
        </>
      }
    >
      <p>
        The link shows this draft to everybody who has it, for 30 minutes, as{' '}
        {persona === null ? 'somebody new' : `“${persona}”`} would see it. Nothing is counted. A change of the
        draft ends it.
      </p>
      <div class="field">
        <label for="preview-page">Page of the site</label>
        <input
          id="preview-page"
          list="preview-sites"
          inputMode="url"
          value={page.value}
          aria-invalid={problem.value !== null}
          aria-describedby="preview-page-problem"
          onInput={(event) => {
            page.value = event.currentTarget.value;
          }}
        />
        <datalist id="preview-sites">
          {sites.map((site) => (
            <option key={site} value={`${site}/`} />
          ))}
        </datalist>
        <p class="field-problem" id="preview-page-problem" role="alert">
          {problem.value}
        </p>
      </div>
      {link.value !== null && <QrCode text={link.value} />}
    </Dialog>
  );
};
