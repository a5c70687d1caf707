/** Type of side-effect imports of style sheets, which Vite bundles. */
declare module '*.css';
