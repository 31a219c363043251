package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const unknown = "NOASSERTION"

// sbom returns the SPDX document of a binary: the modules that it contains, according to Go's build information.
func sbom(binary, server, version string, created time.Time) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(content)
	document := &spdx.Document{
		SPDXVersion:       spdx.Version,
		DataLicense:       spdx.DataLicense,
		SPDXIdentifier:    "DOCUMENT",
		DocumentName:      server + " " + version,
		DocumentNamespace: source + "/spdx/" + server + "/" + hex.EncodeToString(digest[:]),
		CreationInfo: &spdx.CreationInfo{
			Created:  created.UTC().Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Organization", Creator: "hierarchy-apiserver"}},
		},
	}
	add := func(path, version string, relationship string, from common.ElementID) common.ElementID {
		sum := sha256.Sum256([]byte(path + "@" + version))
		id := common.ElementID("Package-" + hex.EncodeToString(sum[:8]))
		document.Packages = append(document.Packages, &spdx.Package{
			PackageName:             path,
			PackageSPDXIdentifier:   id,
			PackageVersion:          version,
			PackageDownloadLocation: unknown,
			PackageLicenseConcluded: unknown,
			PackageLicenseDeclared:  unknown,
			PackageCopyrightText:    unknown,
			PackageExternalReferences: []*spdx.PackageExternalReference{{
				Category: "PACKAGE-MANAGER", RefType: "purl", Locator: "pkg:golang/" + path + "@" + version,
			}},
		})
		document.Relationships = append(document.Relationships, &spdx.Relationship{
			RefA: common.MakeDocElementID("", string(from)), RefB: common.MakeDocElementID("", string(id)), Relationship: relationship,
		})
		return id
	}
	main := add(info.Main.Path, version, "DESCRIBES", "DOCUMENT")
	add("stdlib", info.GoVersion, "DEPENDS_ON", main)
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		add(module.Path, module.Version, "DEPENDS_ON", main)
	}
	var buffer bytes.Buffer
	err = json.Write(document, &buffer)
	return buffer.Bytes(), err
}
