/* On a published site the list of versions is that of the newest one: versions.json, beside the folders of all versions.
   Where it cannot be read, as from a file, the list that the page was built with stays. */
const here = /^https?:$/.test(location.protocol);
for (const list of here ? document.querySelectorAll(".version-list") : []) {
  const { root, folder } = list.dataset;
  const entry = (version) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.className = "dropdown-item";
    link.textContent = version.name;
    link.href = `${root}${encodeURIComponent(version.folder)}/index.html`;
    if (version.folder === folder) {
      link.classList.add("active");
      link.setAttribute("aria-current", "true");
    }
    item.append(link);
    return item;
  };
  fetch(`${root}versions.json`)
    .then((answer) => (answer.ok ? answer.json() : []))
    .then((versions) => versions.length && list.querySelector("ul").replaceChildren(...versions.map(entry)))
    .catch(() => {});
}
