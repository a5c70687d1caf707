import { useSignal } from '@preact/signals';
import { languageName } from '../../campaign/translations.ts';
import type { PreviewLinkResponse } from '../../server/routes/preview.ts';
import { call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { copyText, Dialog } from '../components/dialog.tsx';
import { useLoad } from '../components/loading.tsx';
import { announce } from '../components/notices.tsx';
import type { Editor } from '../editor/editor-state.ts';
import { signedIn } from '../shell/session.ts';

/** Quiet zone around the code, in modules, as the QR standard requires. */
const QUIET = 4;

/** QR code of a link. The library is lazy-loaded. */
const QrCode = ({ text }: { text: string }) => {
  const { loaded } = useLoad(async () => (await import('uqr')).encode(text, { border: QUIET }).data, text);
  if (loaded.state === 'loading') return <div class="qr" aria-busy="true" />;
  if (loaded.state === 'failed')
    return (
      <p class="field-problem" role="alert">
        The QR code could not be loaded. The link works without it.
      </p>
    );
  const cells = loaded.value;
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
      <figcaption class="field-help">Scan with a phone.</figcaption>
    </figure>
  );
};

interface SiteLinkDialogProps {
  editor: Editor;
  variantId: string;
  /** Persona; `null` for a new visitor. */
  persona: string | null;
  /** Language being edited; `null` for the language of the persona. */
  language: string | null;
  onClose(): void;
}

/** Dialog with a link that shows the draft on the site, on this device or on a phone. */
export const SiteLinkDialog = ({ editor, variantId, persona, language, onClose }: SiteLinkDialogProps) => {
  const { sites } = signedIn().workspace;
  /** Input text, separate from the page of the current link, so that typing does not create a link per character. */
  const typed = useSignal(`${sites[0]}/`);
  const page = useSignal(typed.value);
  const { loaded } = useLoad(
    () =>
      call<PreviewLinkResponse>('POST', '/api/preview-links', {
        body: {
          campaign_id: editor.id,
          revision: editor.revision(),
          variant_id: variantId,
          persona,
          language,
          page: page.value,
        },
      }),
    page.value,
  );
  const url = loaded.state === 'ready' && typed.value === page.value ? loaded.value.url : null;
  const problem = loaded.state === 'failed' && typed.value === page.value ? loaded.message : null;
  const copy = async () => {
    await copyText(url!, 'open the link and copy its address');
    announce('Link copied.');
  };
  return (
    <Dialog
      title="Preview on the site"
      onClose={onClose}
      closeName="Close"
      action={{ name: 'Copy link', act: copy, isReady: url !== null }}
      more={
        url !== null && (
          <a class="button" href={url} target="_blank" rel="noreferrer">
            Open
          </a>
        )
      }
    >
      <p>
        Anyone with the link sees {editor.isDraft.value ? 'this draft' : 'the published version'} for 30
        minutes, as {persona === null ? 'a new user' : `“${persona}”`}
        {language !== null && `, in ${languageName(language)}`}. Nothing is counted.
        {editor.isDraft.value && ' The next edit ends it.'}
      </p>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          page.value = typed.value;
        }}
      >
        <label for="preview-page">Page</label>
        <input
          id="preview-page"
          list="preview-sites"
          inputMode="url"
          value={typed.value}
          aria-invalid={problem !== null}
          aria-describedby="preview-page-problem"
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
        />
        <datalist id="preview-sites">
          {sites.map((site) => (
            <option key={site} value={`${site}/`} />
          ))}
        </datalist>
        <p class="field-problem" id="preview-page-problem" role="alert">
          {problem}
        </p>
        {typed.value !== page.value && <Button type="submit">Create link</Button>}
      </form>
      {url !== null && <QrCode text={url} />}
    </Dialog>
  );
};
