package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"mqctl/internal/protocol"
	"mqctl/internal/render"
)

// versionView is what mqctl version prints.
type versionView struct {
	Version  string `json:"version" col:"VERSION"`
	Revision string `json:"revision" col:"REVISION" none:"unknown"`
	Go       string `json:"go" col:"GO"`
	Platform string `json:"platform" col:"PLATFORM"`
	Protocol string `json:"protocol" col:"PROTOCOL"` // the RocketMQ release whose client this claims to be
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Category: categoryLocal, Usage: "print the version",
		UsageText: "mqctl version\t\nmqctl version -o json\tfor bug reports",
		Action:    p.versionAction,
	}
}

func (p *program) versionAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	v := versionView{
		Version: "development", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Protocol: protocol.MQVersion(protocol.CurrentVersion).String(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	if p.opt.output == "" {
		_, err := fmt.Fprintf(p.stdout, "mqctl %s, %s, %s, RocketMQ protocol %s\n", v.Version, v.Go, v.Platform, v.Protocol)
		return err
	}
	return p.write(render.Fields(v))
}
