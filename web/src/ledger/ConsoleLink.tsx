import { Icon } from "../parts/Icon";
import { Name } from "../parts/Name";

/** A link to the page of another system's console. It opens apart, and tells that system nothing about where it was followed. */
export function ConsoleLink({ title, url }: { title: string; url: string }) {
    if (!/^https?:\/\//.test(url)) return null;
    return (
        <a href={url} target="_blank" rel="noopener noreferrer" title={url}>
            <Icon name="link" />
            <Name text={title} />
        </a>
    );
}
